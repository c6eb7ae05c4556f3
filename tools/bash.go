package tools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

const bashDescription = `Run a shell command (bash -lc, no terminal, no stdin): stdout, stderr, exit code. With context_focus_question ("which test failed and why") lines that do not answer it are left out: ask when the output may be long, not when it is needed exactly; read shows what was left out. What runs longer than timeout_ms is killed.`

const bashSchema = `{
  "type": "object",
  "properties": {
    "command": {"type": "string"},
    "cwd": {"type": "string", "description": "Default: the root."},
    "env": {"type": "object", "additionalProperties": {"type": "string"}},
    "timeout_ms": {"type": "integer", "minimum": 100, "maximum": MAX_TIMEOUT, "default": DEFAULT_TIMEOUT},
    "max_output_bytes": {"type": "integer", "minimum": 1024},
    "context_focus_question": {"type": "string", "maxLength": 1000}
  },
  "required": ["command"],
  "additionalProperties": false
}`

// bashLimits are the checks beyond the schema.
const bashLimits = `{"properties": {
  "command": {"minLength": 1, "maxLength": 50000, "not": {"pattern": "\u0000"}},
  "cwd": {"minLength": 1, "not": {"pattern": "\u0000"}},
  "env": {
    "maxProperties": 200,
    "patternProperties": {
      "": {"type": "string", "maxLength": 4000, "not": {"pattern": "\u0000"}},
      "^$|^[0-9]|[^A-Z0-9_]": false
    }
  },
  "max_output_bytes": {"maximum": 10485760},
  "context_focus_question": {"minLength": 1}
}}`

func newBash(b *base) Tool {
	listed := strings.NewReplacer(
		"DEFAULT_TIMEOUT", strconv.Itoa(b.defaultTimeout()), "MAX_TIMEOUT", strconv.Itoa(b.BashMaxTimeout),
	).Replace(bashSchema)
	return b.tool(Tool{Name: "bash", Description: bashDescription, Destructive: true}, listed, bashLimits, checkBash)
}

type bashCall struct {
	base    *base
	command string
	cwd     string // relative to the root
	env     map[string]string
	timeout int // milliseconds
	limit   int // bytes
	focus   string

	explicit bool // the call sets its own output limit
}

// defaultTimeout is the time limit of a command without one of its own, in milliseconds.
func (b *base) defaultTimeout() int { return min(b.BashTimeout, b.BashMaxTimeout) }

func checkBash(b *base, r rules, args map[string]any) (Call, []Issue) {
	a := r.check(args, b.alias("command", "cmd"))
	c := &bashCall{base: b, command: a.text("command")}
	c.cwd, _ = b.cwdArg(a)
	c.timeout = a.integer("timeout_ms", b.defaultTimeout())
	c.limit = a.outputCap()
	c.explicit = a.has("max_output_bytes")
	c.focus = a.focus()
	if issues := a.done(); len(issues) > 0 {
		return nil, issues
	}
	env := valueOr[map[string]any](a, "env", nil)
	c.env = make(map[string]string, len(env))
	for name, value := range env {
		c.env[name], _ = value.(string)
	}
	return c, nil
}

func (c *bashCall) FocusQuestion() string { return c.focus }

func (c *bashCall) Run(ctx context.Context) (Output, error) {
	start := c.base.Now()
	dir, err := c.base.root.Directory(c.cwd)
	if err != nil {
		return nil, &Error{Code: "invalid_cwd", Message: "cwd " + files.Quoted(c.cwd) + ": " + files.PlainReason(err)}
	}
	stdout, stderr := &files.Sink{Limit: c.limit}, &files.Sink{Limit: c.limit}
	code, err := c.shell(ctx, process.Process{
		Dir:     dir,
		Env:     c.environment(dir),
		Stdout:  stdout,
		Stderr:  stderr,
		Watched: true,
		Timeout: time.Duration(c.timeout) * time.Millisecond,
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	out := &bashOutput{
		Tool: "bash", Command: c.command, Cwd: dir, ExitCode: code,
		Duration: c.base.since(start), explicit: c.explicit, grep: c.base.offers("grep"),
	}
	out.Stdout, out.Stderr, out.Truncated = shareCap(stdout, stderr, c.limit)
	out.Stderr = strings.ReplaceAll(out.Stderr, pathFirst, "") // a shell quotes the line of a syntax error
	if err != nil {
		return nil, c.failed(err, out)
	}
	if code != 0 && !c.base.NonzeroExitAsOutput {
		e := out.failure("nonzero_exit", fmt.Sprintf("command exited with code %d", code))
		e.ExitCode = &code
		return nil, e
	}
	return out.withLastStates(), nil
}

// shell runs the command with bash or, if it is not installed, with sh.
func (c *bashCall) shell(ctx context.Context, p process.Process) (int, error) {
	var missing error
	for _, name := range shells {
		path, err := c.base.LookPath(name)
		if err != nil {
			missing = process.NotInstalled(name)
			continue
		}
		p.Path, p.Args = path, []string{"-lc", "--", prelude(runtime.GOOS, p.Env) + c.command}
		code, err := p.Run(ctx)
		var spawn *process.SpawnError
		if errors.As(err, &spawn) && process.IsUnusable(spawn.Err) {
			missing = err
			continue
		}
		return code, err
	}
	return 0, missing
}

// pathFirst puts the inherited entries of PATH before those of a login profile. Commands
// then use the virtual environment, or the version of node or go, that was active when the
// server was started.
const pathFirst = `PATH=$MCP_PRUNER_PATH:$PATH; unset MCP_PRUNER_PATH; `

// prelude returns the text that precedes a command on its first line, so that line numbers
// in the shell's messages stay correct. On Windows there is none, because PATH has another form there.
func prelude(system string, env []string) string {
	if system == "windows" || !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, pathVariable) }) {
		return ""
	}
	return pathFirst
}

const pathVariable = "MCP_PRUNER_PATH="

func (c *bashCall) failed(err error, out *bashOutput) *Error {
	if !errors.Is(err, process.ErrTimeout) {
		return &Error{Code: "spawn_error", Message: "cannot start a shell: " + files.PlainReason(err) + ShellAdvice(runtime.GOOS)}
	}
	e := out.failure("timeout", fmt.Sprintf("command was killed after %d ms", c.timeout))
	e.TimeoutMS = c.timeout
	return e
}

// ownPrefixes begin the variables that commands do not see beside the secrets of clients: the server's own settings.
var ownPrefixes = []string{"PRUNER_", "MCP_PRUNER_", "JEEVES_", "DEEPINFRA_", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"}

// environment returns the server's environment without the hidden variables, overridden by
// the call's own variables.
func (c *bashCall) environment(dir string) []string {
	env := c.base.Env()
	hidden := Hidden(env)
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		if _, overridden := c.env[name]; overridden || name == "PWD" {
			return true
		}
		return hidden(name) && !slices.Contains(c.base.PassEnv, name)
	})
	if _, given := c.env["PWD"]; !given {
		env = append(env, "PWD="+dir)
	}
	for _, name := range slices.Sorted(maps.Keys(c.env)) {
		env = append(env, name+"="+c.env[name])
	}
	if i := slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, "PATH=") && e != "PATH=" }); i >= 0 {
		env = append(env, pathVariable+strings.TrimPrefix(env[i], "PATH="))
	}
	return env
}

// databaseSecrets open the database in which a server keeps its state.
var databaseSecrets = []string{"PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE", "PGSSLKEY", "PGSSLPASSWORD"}

// Hidden returns which variables of an environment are hidden from every process that is started for a client: the server's
// settings, its client's secrets, and what opens its database, if it has one. Without one that is the user's.
func Hidden(env []string) func(name string) bool {
	shared := slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "MCP_PRUNER_STORE=postgres") })
	return func(name string) bool {
		own := slices.ContainsFunc(ownPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
		return own || ClientSecret(name) || shared && slices.Contains(databaseSecrets, name)
	}
}

// ClientSecret reports whether a variable is one of the client's session secrets, which the
// server does not need.
func ClientSecret(name string) bool {
	return slices.ContainsFunc(agent.Clients, func(c *agent.Client) bool { return c.HasSecret(name) })
}
