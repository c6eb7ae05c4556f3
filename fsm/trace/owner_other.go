//go:build !unix

package trace

import "io/fs"

const noFollow = 0

// othersMayWrite: who may write is not in the mode of a file here.
func othersMayWrite(fs.FileInfo) bool { return false }
