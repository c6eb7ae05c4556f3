package verbs

import "os"

func endSignals() []os.Signal { return []os.Signal{os.Interrupt} }

// surviveClosedPipes does nothing, because Windows has no SIGPIPE.
func surviveClosedPipes() {}
