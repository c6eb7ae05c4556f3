package tools

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

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

// Instructions tell a model what the tools are for and when to ask a focus question.
const Instructions = `read, bash and grep leave out what does not answer context_focus_question. ` +
	`Ask it of large or unknown output, in the words the text would use; ` +
	`not of short output or of what you are about to edit.`

// core are the tools of this package, in the order in which they are listed.
var core = []struct {
	name string
	make func(*base) Tool
}{{"read", newRead}, {"bash", newBash}, {"grep", newGrep}}

// Names returns the names of the tools that New can return.
func Names() []string {
	names := make([]string, len(core))
	for i, t := range core {
		names[i] = t.name
	}
	return names
}

// New returns the tools of this package, or those that Narrow names.
func New(s Settings) ([]Tool, error) {
	b, err := newBase(s)
	if err != nil {
		return nil, err
	}
	for _, want := range s.Narrow {
		if !slices.Contains(Names(), want) {
			return nil, fmt.Errorf("unknown tool %q, allowed: %s", want, strings.Join(Names(), ", "))
		}
	}
	var all []Tool
	for _, t := range core {
		if len(s.Narrow) == 0 || slices.Contains(s.Narrow, t.name) {
			all = append(all, t.make(b))
		}
	}
	return all, nil
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
	if s.BashTimeout == 0 {
		s.BashTimeout = defaultTimeout
	}
	if s.BashMaxTimeout == 0 {
		s.BashMaxTimeout = maxTimeoutMS
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	root, err := files.NewRoot(s.Root)
	if err != nil {
		return nil, err
	}
	return &base{Settings: s, root: root, sizeless: make(chan struct{}, mostSizeless)}, nil
}

// alias returns a second name of an argument, if aliases are enabled.
func (b *base) alias(name, other string) alias {
	if !b.Aliases {
		return alias{}
	}
	return alias{name, other}
}

// standardFolders are the directories searched for programs if PATH is not set.
var standardFolders = []string{"/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin"}

// lookPath finds a program. If PATH is not set, it searches the standard folders.
func lookPath(name string) (string, error) {
	path, err := findProgram(runtime.GOOS, name, thisWindows(), exec.LookPath)
	if err == nil || os.Getenv("PATH") != "" {
		return path, err
	}
	for _, folder := range standardFolders {
		if found, ferr := exec.LookPath(filepath.Join(folder, name)); ferr == nil {
			return found, nil
		}
	}
	return "", err
}

// since is the time from start to now in whole milliseconds.
func (b *base) since(start time.Time) int64 { return b.Now().Sub(start).Milliseconds() }
