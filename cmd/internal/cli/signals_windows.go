package cli

import "os"

func endSignals() []os.Signal { return []os.Signal{os.Interrupt} }

// surviveClosedPipes has nothing to do here: there is no SIGPIPE.
func surviveClosedPipes() {}
