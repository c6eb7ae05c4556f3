package process

import "io"

// startWatcher is nil, because Windows has no shell for a watcher.
var startWatcher func() (io.WriteCloser, error)
