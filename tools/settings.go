package tools

import (
	"cmp"
	"context"
	"math"
	"os"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// Limits shared by several arguments.
const (
	maxTimeoutMS   = 300_000
	maxOutputBytes = 10 << 20 // also the cap of a call that names none
	defaultTimeout = 30_000
	maxLineNumber  = math.MaxInt32
)

// mostSizeless is the number of reads of files without a size at once. It bounds the threads and descriptors of reads
// that never return, because nothing interrupts them.
const mostSizeless = 16

// Settings configure the tools. The zero value of every field but Root is its default.
type Settings struct {
	// Root is the directory that no path may leave. Relative paths are resolved against it,
	// and commands start in it.
	Root string
	// PassEnv names variables that commands see although they would otherwise be hidden.
	PassEnv []string
	// NonzeroExitAsOutput makes a failed command a result instead of an error.
	NonzeroExitAsOutput bool
	// BashTimeout and BashMaxTimeout limit the time of commands, in milliseconds; 0: 30
	// seconds and five minutes.
	BashTimeout, BashMaxTimeout int
	// Original returns the output stored under an id, which read accepts as a path; nil:
	// nothing is stored.
	Original func(ctx context.Context, id string) (text string, found bool, err error)
	// Aliases accepts read.path for file_path and bash.cmd for command.
	Aliases bool
	// Narrow names the tools to offer; empty means all of them.
	Narrow []string

	Env      func() []string              // nil: os.Environ
	LookPath func(string) (string, error) // nil: exec.LookPath
	Now      func() time.Time             // nil: time.Now
}

// base is shared by the three tools: the root, and the settings with defaults filled in.
type base struct {
	Settings
	root *files.Root

	sizeless chan struct{} // a slot for each read of a file without a size
}

func newBase(s Settings) (*base, error) {
	if s.Env == nil {
		s.Env = os.Environ
	}
	if s.LookPath == nil {
		s.LookPath = lookPath
	}
	s.BashTimeout = cmp.Or(s.BashTimeout, defaultTimeout)
	s.BashMaxTimeout = cmp.Or(s.BashMaxTimeout, maxTimeoutMS)
	if s.Now == nil {
		s.Now = time.Now
	}
	root, err := files.NewRoot(s.Root)
	if err != nil {
		return nil, err
	}
	return &base{Settings: s, root: root, sizeless: make(chan struct{}, mostSizeless)}, nil
}

func (b *base) offers(tool string) bool { return len(b.Narrow) == 0 || slices.Contains(b.Narrow, tool) }

// alias returns a second name of an argument, if aliases are enabled.
func (b *base) alias(name, other string) alias {
	if !b.Aliases {
		return alias{}
	}
	return alias{name, other}
}

// since is the time from start to now in whole milliseconds.
func (b *base) since(start time.Time) int64 { return b.Now().Sub(start).Milliseconds() }

// alias is another name for a required argument. Some models send it in place of the right one.
type alias struct{ name, other string }
