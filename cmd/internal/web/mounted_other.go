//go:build !unix

package web

import "io/fs"

func isMounted(fs.FileInfo) bool { return false }
