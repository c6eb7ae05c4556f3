package tools

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"mcp-pruner/tools/files"
)

// Settings is what the tools need to know of the server. The zero value of
// every field but Root is the default.
type Settings struct {
	// Root is the directory no argument may point out of; relative paths are
	// resolved against it, and commands start in it.
	Root string
	// PassEnv names variables that commands see although they would be held back.
	PassEnv []string
	// NonzeroExitAsOutput makes a failed command a result instead of an error.
	NonzeroExitAsOutput bool
	// Aliases accepts read.path for file_path and bash.cmd for command.
	Aliases bool
	// Narrow names the tools to offer; empty means all of them.
	Narrow []string

	Env      func() []string              // nil: os.Environ
	LookPath func(string) (string, error) // nil: exec.LookPath
	Now      func() time.Time             // nil: time.Now
}

// New returns read, bash and grep in that order, or those that Narrow names.
func New(s Settings) ([]Tool, error) {
	b, err := newBase(s)
	if err != nil {
		return nil, err
	}
	all := []Tool{newRead(b), newBash(b), newGrep(b)}
	if len(s.Narrow) == 0 {
		return all, nil
	}
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	for _, want := range s.Narrow {
		if !slices.Contains(names, want) {
			return nil, fmt.Errorf("unknown tool %q, allowed: %s", want, strings.Join(names, ", "))
		}
	}
	return slices.DeleteFunc(all, func(t Tool) bool { return !slices.Contains(s.Narrow, t.Name) }), nil
}

// base is what the three tools share: the root, and settings with their defaults
// filled in.
type base struct {
	Settings
	root *files.Root
}

func newBase(s Settings) (*base, error) {
	if s.Env == nil {
		s.Env = os.Environ
	}
	if s.LookPath == nil {
		s.LookPath = exec.LookPath
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	root, err := files.NewRoot(s.Root)
	if err != nil {
		return nil, err
	}
	return &base{Settings: s, root: root}, nil
}

// since is the time from start to now in whole milliseconds.
func (b *base) since(start time.Time) int64 { return b.Now().Sub(start).Milliseconds() }
