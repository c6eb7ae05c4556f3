//go:build !unix

package trace

import (
	"errors"
	"os"
)

// mapFile always fails: without shared memory there are no notes, and if the process is
// killed, the lines of its last batch are lost.
func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) error { return nil }
