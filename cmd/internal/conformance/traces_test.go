package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

var update = flag.Bool("update", false, "write what the traces show into their files")

const traceDir = "../../../testdata/traces"

// TestTraces plays every file of testdata/traces on the real server with the real tools and compares steps, events,
// metadata and response with the file. It also compares events and metadata with the transcribed rows, so that -update
// cannot accept a result that violates the design.
func TestTraces(t *testing.T) {
	spec, specHTTP := readMachine(t, "request.md"), machines(t)["request-http"].spec
	files, err := filepath.Glob(traceDir + "/*.txtar")
	require.NoError(t, err)
	taken := make(map[string]bool)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			run := play(t, file)
			run.checkEmitted(t)
			run.compare(t, file)
			if run.machine.Definition().Name() == fsm.HTTPRequestTable().Name {
				run.checkAgainst(t, specHTTP)
			} else {
				run.checkAgainst(t, spec)
			}
			for _, s := range run.machine.Steps() {
				taken[string(s.From)+" "+string(s.Trigger)] = true
			}
		})
	}
	for _, row := range fsm.MustCompile(fsm.HTTPRequestTable()).Rows() { // includes the rows of the stdio transport
		assert.True(t, taken[string(row.From)+" "+string(row.Trigger)], "no trace takes row %s", rowText(row))
	}
}

// trace is the result of playing one file.
type trace struct {
	archive  *txtar.Archive
	machine  *fsm.Machine
	pruning  states.PruningMetadata
	response string
	emitted  []fsm.Event // of the last request
}

// knobs are the settings of a trace file's settings section.
type knobs struct {
	pruner     string // "service", "none"
	repeat     bool
	cancelAt   string // when the client cancels: at an event's name, "start" or "write"
	writeFails bool
	result     string
	nonzero    bool
	limit      int // over HTTP: output of more bytes is not pruned
}

func parseKnobs(t *testing.T, text string) knobs {
	k := knobs{pruner: "none", result: "full"}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		key, value, _ := strings.Cut(line, "=")
		switch key {
		case "":
		case "pruner":
			k.pruner = value
		case "repeat":
			k.repeat = value == "true"
		case "cancel":
			k.cancelAt = value
		case "write":
			k.writeFails = value == "fails"
		case "result":
			k.result = value
		case "limit":
			_, err := fmt.Sscan(value, &k.limit)
			require.NoError(t, err, line)
		case "nonzero":
			k.nonzero = value == "output"
		default:
			t.Fatalf("unknown setting %q", key)
		}
	}
	return k
}

// play runs the requests of a file in order. The result is that of the last request.
func play(t *testing.T, file string) *trace {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	root, run := t.TempDir(), &trace{archive: archive}
	k := parseKnobs(t, "")
	var requests, answers []string
	for _, f := range archive.Files {
		kind, name, _ := strings.Cut(f.Name, " ")
		switch kind {
		case "settings":
			k = parseKnobs(t, string(f.Data))
		case "file":
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(root, name), f.Data, 0o644))
		case "pruner":
			answers = append(answers, string(f.Data))
		case "request":
			requests = append(requests, string(f.Data))
		case "steps", "pruning", "response":
		default:
			t.Fatalf("unknown section %q", f.Name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server := run.newServer(t, root, k, answers, cancel)
	var session mcpserver.Session
	for _, line := range requests {
		run.emitted = nil
		call, response := ask(ctx, cancel, server, &session, k, line)
		run.machine, run.pruning, run.response = call.Machine(), call.Pruning(), response
		run.response = strings.ReplaceAll(run.response, root, "$ROOT")
	}
	require.NotNil(t, run.machine, "no request reached a machine")
	assert.True(t, run.machine.Done(), "the machine ended in %s", run.machine.State())
	return run
}

func (r *trace) newServer(t *testing.T, root string, k knobs, answers []string, cancel func()) *mcpserver.Server {
	t.Helper()
	now := func() time.Time { return time.Unix(0, 0) }
	offered, err := tools.New(tools.Settings{
		Root: root, NonzeroExitAsOutput: k.nonzero, Now: now, Aliases: k.limit > 0,
		Env: func() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root} }, // no profile slows the shell
	})
	require.NoError(t, err)
	table := fsm.RequestTable()
	if k.limit > 0 {
		table = fsm.HTTPRequestTable()
	}
	return mcpserver.New(mcpserver.Config{
		Pipeline: &states.Pipeline{
			Machine: fsm.MustCompile(table), Tools: append(offered, faultTool()),
			Pruner: newTracePruner(t, k, answers), RepeatRaw: k.repeat, MaxPruneBytes: k.limit, FieldErrors: k.limit > 0,
			Now: now, NewID: func() string { return "req_1" },
			Emit: func(e fsm.Event) {
				r.emitted = append(r.emitted, e)
				if e.Name == k.cancelAt {
					cancel()
				}
			},
		},
		Result: k.result, MaxCalls: 1, Version: "0.0.0",
	})
}

// newTracePruner returns a client of a real HTTP service that gives the scripted answers in order: "STATUS BODY" or
// "hang". The last answer is repeated.
func newTracePruner(t *testing.T, k knobs, answers []string) pruneclient.Pruner {
	t.Helper()
	if k.pruner == "none" {
		return nil
	}
	var got []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		got = append(got, body.String())
		status, text, _ := strings.Cut(strings.TrimSpace(answers[min(len(got), len(answers))-1]), " ")
		if status == "hang" {
			<-r.Context().Done()
			return
		}
		var code int
		_, _ = fmt.Sscan(status, &code)
		w.WriteHeader(code)
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(service.Close)
	client, err := pruneclient.NewHTTP(pruneclient.HTTPSettings{URL: service.URL + "/prune", Timeout: 200 * time.Millisecond})
	require.NoError(t, err)
	return named{client}
}

// named is a pruner whose endpoint is the same in every run.
type named struct{ pruneclient.Pruner }

func (named) Endpoint() string { return "http://pruner.test/prune" }

func ask(ctx context.Context, cancel func(), s *mcpserver.Server, session *mcpserver.Session, k knobs, line string) (*states.Execution, string) {
	if k.cancelAt == "start" {
		cancel()
	}
	reply := s.Answer(ctx, session, mcpserver.Parse([]byte(line)))
	if k.cancelAt == "write" {
		cancel()
	}
	body, err := reply.Begin(ctx)
	switch {
	case err != nil:
		return reply.Call(), "none: " + err.Error() + "\n"
	case body == nil:
		return reply.Call(), "none\n"
	case k.writeFails:
		reply.Failed(ctx, errors.New("broken pipe"))
		return reply.Call(), "none\n"
	}
	reply.Written(ctx)
	var pretty bytes.Buffer
	_ = json.Indent(&pretty, body, "", "  ")
	return reply.Call(), strings.TrimSpace(pretty.String()) + "\n"
}

// compare compares the result with the file, or writes it into the file with -update.
func (r *trace) compare(t *testing.T, file string) {
	t.Helper()
	pruning, err := json.Marshal(r.pruning)
	require.NoError(t, err)
	seen := map[string]string{"steps": r.steps(t), "pruning": string(pruning) + "\n", "response": r.response}
	if *update {
		r.archive.Files = slices.DeleteFunc(r.archive.Files, func(f txtar.File) bool { return seen[f.Name] != "" })
		for _, name := range []string{"steps", "pruning", "response"} {
			r.archive.Files = append(r.archive.Files, txtar.File{Name: name, Data: []byte(seen[name])})
		}
		require.NoError(t, os.WriteFile(file, txtar.Format(r.archive), 0o644))
		return
	}
	for name, text := range seen {
		i := slices.IndexFunc(r.archive.Files, func(f txtar.File) bool { return f.Name == name })
		require.GreaterOrEqual(t, i, 0, "no section %q: run the test with -update and read the diff", name)
		assert.Equal(t, string(r.archive.Files[i].Data), text, name)
	}
}

// checkEmitted compares the log with the steps: the log has every event of every step once, in order, and the event of
// a panic has the stack of the handler that panicked.
func (r *trace) checkEmitted(t *testing.T) {
	t.Helper()
	var want []fsm.Event
	for _, s := range r.machine.Steps() {
		want = append(want, s.Events...)
	}
	assert.Equal(t, want, r.emitted, "what the log got")
	for _, e := range r.emitted {
		if stack, _ := e.Data["stack"].(string); e.Data["reason"] == "panic" {
			assert.Contains(t, stack, "github.com/mcp-pruner/mcp-pruner/states.", "the stack of a panic")
		}
	}
}

func (r *trace) steps(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, s := range r.machine.Steps() {
		fmt.Fprintf(&b, "%s: %s --%s--> %s\n", s.Spec, s.From, s.Trigger, s.To)
		for _, e := range s.Events {
			delete(e.Data, "stack")
			data, err := json.Marshal(e.Data)
			require.NoError(t, err)
			fmt.Fprintf(&b, "\t%s %s %s\n", e.Level, e.Name, data)
		}
	}
	return b.String()
}

// checkAgainst compares every step with its transcribed row: the emitted events, their payloads, and the metadata that
// the step wrote.
func (r *trace) checkAgainst(t *testing.T, spec machine) {
	t.Helper()
	want := map[string]string{}
	for _, step := range r.machine.Steps() {
		i := slices.IndexFunc(spec.rows, func(row map[string]string) bool {
			from := row["from"] == string(step.From) || row["from"] == "req:*"
			return from && row["trigger"] == string(step.Trigger)
		})
		require.GreaterOrEqual(t, i, 0, "the design has no row %s --%s-->", step.From, step.Trigger)
		row := spec.rows[i]
		assert.Equal(t, row["to"], string(step.To), "row %s", row["row"])
		assert.Equal(t, row["row"], step.Spec)
		var names []string
		for _, e := range step.Events {
			names = append(names, e.Name)
			assert.NoError(t, e.Check(), "row %s", row["row"])
			assert.Equal(t, r.machine.ID(), e.RequestID)
		}
		assert.Equal(t, row["events"], strings.Join(names, " "), "events of row %s", row["row"])
		for _, word := range strings.Fields(row["metadata"]) {
			field, value, fixed := strings.Cut(word, "=")
			if !fixed {
				value = "measured"
			}
			want[field] = value
		}
	}
	r.checkMetadata(t, want)
}

func (r *trace) checkMetadata(t *testing.T, want map[string]string) {
	t.Helper()
	raw, err := json.Marshal(r.pruning)
	require.NoError(t, err)
	var have map[string]any
	require.NoError(t, json.Unmarshal(raw, &have))
	if problem, ok := have["error"].(map[string]any); ok {
		have["error.code"], have["error.message"] = problem["code"], problem["message"]
		delete(have, "error")
	}
	for field, value := range want {
		if field == "reason" && value == "measured" && have["raw_bytes"] != 0.0 && have["reason"] == nil {
			continue // A9: a failed tool has output, which was not pruned only because the tool failed
		}
		require.Contains(t, have, field)
		if value != "measured" {
			assert.Equal(t, value, fmt.Sprint(have[field]), field)
		}
	}
	for field, value := range have {
		if _, written := want[field]; !written {
			assert.Contains(t, []any{false, 0.0}, value, "no row wrote %s", field)
		}
	}
}
