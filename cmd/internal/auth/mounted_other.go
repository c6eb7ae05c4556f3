//go:build !unix

package auth

import "io/fs"

func isMounted(fs.FileInfo) bool { return false }
