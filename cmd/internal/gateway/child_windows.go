package gateway

import "os"

// writeNow leaves everything to the goroutine: a write to a pipe may wait.
func writeNow(*os.File, []byte) int { return 0 }
