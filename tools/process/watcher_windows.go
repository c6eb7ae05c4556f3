package process

import "io"

// startWatcher is nil: Windows has no shell to watch with.
var startWatcher func() (io.WriteCloser, error)
