//go:build unix && !linux

package keeper

import "os/exec"

// Without Linux' means a keeper ends the command's own process group, and what
// left that group has to notice the end of its standard input.

func adoptOrphans() {}

// descendants is nil: they are not known here.
var descendants func() []int

// endWithParent does nothing: only Linux can do that.
func endWithParent(*exec.Cmd) {}
