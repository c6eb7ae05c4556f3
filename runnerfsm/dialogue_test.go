package runnerfsm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper/signaltest"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/provider"
)

var update = flag.Bool("update", false, "write what the dialogues show into their files")

const dialogueDir = "../testdata/runner/dialogues"

// TestMain lets the test binary be the keeper, as the program itself is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "keep" {
		os.Exit(keeper.Main(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "fake-server" {
		fakeServer()
	}
	goleak.VerifyTestMain(signaltest.Tests{M: m})
}

// TestDialogues plays every file of testdata/runner/dialogues: a client, which is
// a real process running the file's script, and what the runner makes of it.
func TestDialogues(t *testing.T) {
	playAll(t, dialogueDir, fsm.RunTable(), func(t *testing.T, d *dialogue) runnerfsm.Result {
		result := d.play(t)
		d.compare(t, d.shown(t, result))
		return result
	})
}

// playAll plays every file of a folder, checks each step that was taken, and expects that every row of the
// table was taken by some file.
func playAll(t *testing.T, folder string, table fsm.Table, play func(*testing.T, *dialogue) runnerfsm.Result) {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.txtar")
	require.NoError(t, err)
	var mu sync.Mutex
	taken := make(map[string]bool)
	t.Run("play", func(t *testing.T) {
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				t.Parallel()
				result := play(t, readDialogue(t, file))
				mu.Lock()
				defer mu.Unlock()
				for _, s := range result.Machine.Steps() {
					checkStep(t, table, s)
					taken[s.Spec+" "+string(s.Trigger)] = true
				}
			})
		}
	})
	for _, row := range table.Rows {
		assert.True(t, taken[row.Spec+" "+string(row.Trigger)], "no dialogue takes row %s (%s, %s)", row.Spec, row.From, row.Trigger)
	}
}

// checkStep holds a step against its row and its events against their schemas,
// which -update must not be able to bless otherwise.
func checkStep(t *testing.T, table fsm.Table, s fsm.Step) {
	var names []string
	for _, e := range s.Events {
		assert.NoError(t, e.Check())
		names = append(names, e.Name)
	}
	for _, row := range table.Rows {
		if row.From == s.From && row.Trigger == s.Trigger {
			assert.Equal(t, row.To, s.To)
			assert.Equal(t, strings.Fields(row.Events), append([]string{}, names...), "events of row %s", row.Spec)
		}
	}
	if s.To == fsm.RunDisabled {
		assert.Equal(t, "mcp_pruner.disabled", names[len(names)-1], "the reason comes last")
	}
}

// dialogue is one file. $WORK in it is the run's directory.
type dialogue struct {
	file    string
	archive *txtar.Archive
	work    string
	env     []string
	keys    map[string]string // of the section "run"
	stdin   string
	stdout  safeBuffer
	stderr  safeBuffer
}

func readDialogue(t *testing.T, file string) *dialogue {
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	work, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	d := &dialogue{file: file, archive: archive, work: work, keys: make(map[string]string)}
	// The race detector makes every process, the keepers too, wait a second at its end.
	d.env = []string{"PATH=" + d.in("bin") + ":/usr/bin:/bin", "WORK=" + work, "GORACE=atexit_sleep_ms=0"}
	require.NoError(t, os.Mkdir(d.in("bin"), 0o755))
	d.program(t, "mcp-pruner", "exit 1\n") // found, and never run: the clients here are scripts
	for _, f := range archive.Files {
		d.section(t, f.Name, strings.ReplaceAll(string(f.Data), "$WORK/", work+"/"), string(f.Data))
	}
	return d
}

func (d *dialogue) section(t *testing.T, name, text, asWritten string) {
	switch name {
	case "env":
		d.env = append(d.env, nonEmptyLines(text)...)
	case "run":
		for _, line := range nonEmptyLines(text) {
			key, value, _ := strings.Cut(line, ":")
			require.Contains(t, []string{"provider", "options", "prompt", "interrupt", "start-timeout", "shutdown-timeout", "silent-for"}, key, "unknown key")
			d.keys[key] = strings.TrimSpace(value)
		}
	case "client":
		d.program(t, d.keys["provider"], asWritten)
	case "server":
		d.program(t, "mcp-pruner", asWritten)
	case "stdin":
		d.stdin = text
	case "steps", "events", "result", "ended", "stdout", "stderr", "args":
	default:
		t.Fatalf("unknown section %q", name)
	}
}

func (d *dialogue) in(name string) string { return filepath.Join(d.work, name) }

// program makes a script that records how it is called. One that names its own
// interpreter is left as it is.
func (d *dialogue) program(t *testing.T, name, script string) {
	if !strings.HasPrefix(script, "#!") {
		script = "#!/bin/sh\n" + `printf '%s\n' "$@" "--" >>"$WORK/args"` + "\n" + script
	}
	require.NoError(t, os.WriteFile(d.in("bin/"+name), []byte(script), 0o755))
}

func (d *dialogue) play(t *testing.T) runnerfsm.Result {
	provider, ok := provider.ByName(d.keys["provider"])
	require.True(t, ok, "provider: %q", d.keys["provider"])
	self, err := os.Executable()
	require.NoError(t, err)
	signals := make(chan os.Signal, 1)
	result, err := runnerfsm.Run(context.Background(), runnerfsm.Options{
		ID: "run_1", Provider: provider, ProviderOptions: strings.Fields(d.keys["options"]), Prompt: d.keys["prompt"],
		Settings:     inject.Settings{Env: d.env, Dir: d.work, Root: d.work, Beside: d.in("bin")},
		StartTimeout: d.duration(t, "start-timeout"), Keeper: []string{self, "keep"}, Signals: signals,
		Stdin: strings.NewReader(d.stdin), Stdout: &interrupter{&d.stdout, d.keys["interrupt"], signals}, Stderr: &d.stderr,
		Emit: func(e fsm.Event) { assert.Empty(t, e.RequestID, "a run's events are the process's own") },
	})
	require.NoError(t, err)
	return result
}

// duration is a key's value, 0 when it is not given.
func (d *dialogue) duration(t *testing.T, key string) time.Duration {
	if d.keys[key] == "" {
		return 0
	}
	value, err := time.ParseDuration(d.keys[key])
	require.NoError(t, err)
	return value
}

// shown returns the texts that the sections of a file may show.
func (d *dialogue) shown(t *testing.T, result runnerfsm.Result) map[string]string {
	args, _ := os.ReadFile(d.in("args"))
	return map[string]string{
		"steps": steps(t, result.Machine), "result": result.Summary() + "\n",
		"stdout": d.stdout.String(), "stderr": d.stderr.String(), "args": string(args),
	}
}

func (d *dialogue) compare(t *testing.T, got map[string]string) {
	for i, f := range d.archive.Files {
		want, ok := got[f.Name]
		if !ok {
			continue
		}
		want = strings.ReplaceAll(want, d.work, "$WORK")
		d.archive.Files[i].Data = []byte(want)
		if !*update {
			assert.Equal(t, want, string(f.Data), "%s of %s", f.Name, d.file)
		}
		delete(got, f.Name)
	}
	assert.NotContains(t, got, "steps", "the file has no steps")
	if *update {
		require.NoError(t, os.WriteFile(d.file, txtar.Format(d.archive), 0o644))
	}
}

// steps spells the transitions as testdata/traces does.
func steps(t *testing.T, m *fsm.Machine) string {
	var b strings.Builder
	for _, s := range m.Steps() {
		fmt.Fprintf(&b, "%s: %s --%s--> %s\n", s.Spec, s.From, s.Trigger, s.To)
		for _, e := range s.Events {
			data, err := json.Marshal(e.Data)
			require.NoError(t, err)
			fmt.Fprintf(&b, "\t%s %s %s\n", e.Level, e.Name, data)
		}
	}
	return b.String()
}

// safeBuffer is a bytes.Buffer that several may write to.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// interrupter interrupts the run when the client prints a certain text.
type interrupter struct {
	*safeBuffer
	on      string
	signals chan<- os.Signal
}

func (i *interrupter) Write(p []byte) (int, error) {
	if i.on != "" && bytes.Contains(p, []byte(i.on)) {
		i.signals <- syscall.SIGINT
	}
	return i.safeBuffer.Write(p)
}

func nonEmptyLines(text string) []string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
