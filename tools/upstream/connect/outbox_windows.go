package connect

import "os"

// writeNow writes nothing, because on Windows a write to a pipe may block. The outbox's goroutine writes
// instead.
func writeNow(*os.File, []byte) int { return 0 }
