package trace

import (
	"errors"
	"os"
)

// locker locks a file until its process ends or unlock is called. It fails with errLocked if another process holds the
// lock, and with errors.ErrUnsupported on a system without locks.
type locker func(*os.File) (unlock func(), err error)

// errLocked means that another process holds the lock.
var errLocked = errors.New("the file is locked")
