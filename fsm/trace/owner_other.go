//go:build !unix

package trace

import "io/fs"

const noFollow = 0

// othersMayWrite returns false: on this system the file mode does not say who may write.
func othersMayWrite(fs.FileInfo) bool { return false }
