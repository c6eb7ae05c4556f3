package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

// starts is how often each kind of process is started. The kinds alternate.
const starts = 40

// process is one kind of process. The others are compared with the first one.
type process struct {
	name string
	run  func() (*os.ProcessState, error)
}

// compared prints how long processes of each kind took, and their processor time, also as ratios to the first kind.
func compared(w *tabwriter.Writer, measure, title string, kinds []process) error {
	times, used := make([][]time.Duration, len(kinds)), make([][]time.Duration, len(kinds))
	for round := range starts + 2 {
		for i, k := range kinds {
			began := time.Now()
			state, err := k.run()
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			if round >= 2 { // the first rounds fill the system's caches
				times[i] = append(times[i], time.Since(began))
				used[i] = append(used[i], state.UserTime()+state.SystemTime())
			}
		}
	}
	fmt.Fprintf(w, "%s, %d times\tp25\tp50\tp75\tratio\tprocessor p50\tratio\t\n", title, starts)
	for i, k := range kinds {
		record(measure, k.name, times[i])
		fmt.Fprintf(w, "%s\t%v\t%v\t%v\t%s\t%v\t%s\t\n", k.name, percentile(times[i], .25), percentile(times[i], .5), percentile(times[i], .75),
			ratio(percentile(times[i], .5), percentile(times[0], .5)), percentile(used[i], .5), ratio(percentile(used[i], .5), percentile(used[0], .5)))
	}
	return nil
}

// startUp measures servers that answer initialize and end.
func startUp(w *tabwriter.Writer, binary, root string) error {
	bare, err := bareStart(root)
	if err != nil {
		return err
	}
	return compared(w, "Start", "start, answer to initialize, end", []process{bare, {"mcp-pruner", initialized(root, binary)}})
}

// bareStart is the process that others are compared with.
func bareStart(root string) (process, error) {
	self, err := os.Executable()
	return process{"bare mcp-go", initialized(root, self, bareArgument)}, err
}

func initialized(root, command string, args ...string) func() (*os.ProcessState, error) {
	return func() (*os.ProcessState, error) {
		c, err := start(root, nil, command, args...)
		if err != nil {
			return nil, err
		}
		if _, err := c.ask(initialize); err != nil {
			return nil, err
		}
		err = c.close()
		return c.cmd.ProcessState, err
	}
}

// hooks measures runs of a hook beside the start of a bare server: with a result that stays and with results that are cut,
// and with a short transcript and one of 20 MB.
func hooks(w *tabwriter.Writer, binary, root string) error {
	bare, err := bareStart(root)
	if err != nil {
		return err
	}
	kinds := []process{bare, {"mcp-pruner version", hooked(root, binary, nil, "version")}}
	for _, transcript := range []struct {
		name  string
		turns int
	}{{"", 1}, {", transcript of 20 MB", 750}} {
		path := filepath.Join(root, fmt.Sprintf("transcript%d.jsonl", transcript.turns))
		if err := os.WriteFile(path, session(transcript.turns), 0o600); err != nil {
			return err
		}
		for _, result := range []struct {
			name  string
			tests int
		}{{"a result that stays", 2}, {"20 kB", 400}, {"1 MB", 19_000}} {
			kinds = append(kinds, process{"hook, " + result.name + transcript.name, hooked(root, binary, message(path, result.tests), "hook", "claude")})
		}
	}
	return compared(w, "Hook", "a hook", kinds)
}

// hooked runs the program once. A hook must answer a long message.
func hooked(root, binary string, input []byte, args ...string) func() (*os.ProcessState, error) {
	return func() (*os.ProcessState, error) {
		cmd := exec.Command(binary, args...)
		cmd.Stdin, cmd.Env = bytes.NewReader(input), append(os.Environ(), "XDG_STATE_HOME="+root)
		out, err := cmd.Output()
		if err == nil && len(out) == 0 && len(input) > 10_000 {
			err = errors.New("no answer")
		}
		return cmd.ProcessState, err
	}
}

// session returns a transcript of Claude Code in which each turn reads a file of 13 kB.
func session(turns int) []byte {
	var b bytes.Buffer
	add := func(entry string, values ...any) {
		for i, v := range values {
			text, err := json.Marshal(v)
			if err != nil {
				panic(err) // impossible: strings can be encoded
			}
			values[i] = string(text)
		}
		fmt.Fprintf(&b, entry+"\n", values...)
	}
	add(`{"type":"user","sessionId":"s","message":{"role":"user","content":"find out which test fails, and why"}}`)
	for n := range turns {
		id := fmt.Sprintf("r%d", n)
		text := strings.Repeat(fmt.Sprintf("%d\tfunc handler(w http.ResponseWriter) { return \"no\" }\n", n), 240)
		add(`{"type":"assistant","sessionId":"s","message":{"role":"assistant","content":[{"type":"text","text":"Next."},`+
			`{"type":"tool_use","id":%s,"name":"Read","input":{"file_path":%s}}]}}`, id, "/src/"+id)
		add(`{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%s,"content":%s}]},`+
			`"toolUseResult":{"type":"text","file":{"filePath":%s,"content":%s}}}`, id, text, "/src/"+id, text)
	}
	add(`{"type":"assistant","sessionId":"s","message":{"id":"m1","content":[` +
		`{"type":"text","text":"Which test fails, and why?"},{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`)
	return b.Bytes()
}

// message returns Claude Code's message to a hook about a test run with the given number of passing tests.
func message(transcript string, tests int) []byte {
	var log strings.Builder
	for i := range tests {
		fmt.Fprintf(&log, "=== RUN   TestCase%d\n--- PASS: TestCase%d (0.00s)\n", i, i)
	}
	log.WriteString("    ledger_test.go:42: want 3 retries, got 4\n--- FAIL: TestLedger (0.01s)\n")
	m, err := json.Marshal(map[string]any{
		"session_id": "s", "transcript_path": transcript, "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t1",
		"tool_input":    map[string]any{"command": "go test ./...", "description": "which test failed"},
		"tool_response": map[string]any{"stdout": log.String(), "stderr": "", "interrupted": false},
	})
	if err != nil {
		panic(err) // impossible: strings and maps can be encoded
	}
	return m
}
