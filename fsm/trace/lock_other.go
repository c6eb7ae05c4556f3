//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package trace

import (
	"errors"
	"os"
)

// lockFile always fails: this system has no file locks, so a trace is not rotated.
func lockFile(*os.File) (unlock func(), err error) { return nil, errors.ErrUnsupported }
