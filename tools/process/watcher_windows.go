package process

import "io"

// startWatcher is nil: on Windows, contain does what the watcher does elsewhere.
var startWatcher func() (io.WriteCloser, error)
