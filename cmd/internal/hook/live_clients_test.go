package hook

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// errEnough ends the reading of a set.
var errEnough = errors.New("enough")

// rollouts yields the transcripts in an archive.
func rollouts(t *testing.T, file string, yield func(text string) error) error {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	for r := tar.NewReader(z); ; {
		entry, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		require.NoError(t, err)
		if !strings.HasSuffix(entry.Name, ".jsonl") {
			continue
		}
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		if err := yield(string(text)); err != nil {
			return err
		}
	}
}

// commandEnd finds the call of a command in the event that says how it ended.
var commandEnd = regexp.MustCompile(`"type":\s*"(?:exec_command_end","call_id|CommandExecution","id)":\s*"(\w+)"|"call_id":\s*"(\w+)".*"type":\s*"exec_command_end"`)

// liveCodex runs the hook over a rollout: each result of a command comes when the lines before it are there. Codex tells its hook the
// output; where no event has the status, the text has it.
func liveCodex(t *testing.T, text string, a *agreement) {
	t.Helper()
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.jsonl")
	require.NoError(t, os.WriteFile(whole, []byte(text), 0o600))
	w := &world{t: t, state: dir, transcript: filepath.Join(dir, "session.jsonl")}
	_ = sessions.ReadFile(t.Context(), whole, func(s sessions.Session) error {
		byCall := predictions(t, s, nil)
		grown, err := os.Create(w.transcript)
		require.NoError(t, err)
		defer grown.Close()
		ended := map[string]bool{}
		for line := range strings.Lines(text) {
			if m := commandEnd.FindStringSubmatch(line); m != nil {
				ended[m[1]+m[2]] = true
			}
			if id := outputLine.FindStringSubmatch(line); id != nil {
				if p, known := byCall[id[1]]; known {
					codexResult(t, w, p, s.Steps[p.Step], ended[id[1]], a)
				}
			}
			_, err := grown.WriteString(line)
			require.NoError(t, err)
		}
		return nil
	})
}

// outputLine finds the call of a result in a line of a rollout.
var outputLine = regexp.MustCompile(`"type":\s*"function_call_output".*?"call_id":\s*"(\w+)"`)

func codexResult(t *testing.T, w *world, p replay.Prediction, step sessions.Step, ended bool, a *agreement) {
	t.Helper()
	call := history.ParseCall(step.Tool, step.Args)
	status, told := agent.CodexExit(step.Out)
	if call.Kind != history.Bash || !told || len(step.Out) < 1500 {
		return
	}
	output := step.Out
	body := existing.ResultBody(call, output)
	if ended {
		_, output, _ = strings.Cut(step.Out, "\nOutput:\n")
		body = existing.ResultBody(call, existing.WithStatus(status, output))
	}
	message := w.message("Bash", map[string]any{"command": call.Command}, output)
	message["tool_use_id"] = step.ID
	answer := w.hook([]string{"codex"}, message)
	want := ""
	if p.Pruned {
		text, err := answerOf(&agent.Codex, nil, history.Bash, &existing.Replacement{Cut: p.Cut, Way: wayIn(answer)}, body)
		require.NoError(t, err)
		want = string(text)
	}
	a.count(t, step, want, answer)
}

// predictions returns what replay says of the results of a session, by the ids of their calls.
func predictions(t *testing.T, s sessions.Session, others history.OtherTools) map[string]replay.Prediction {
	t.Helper()
	list, err := replay.Predict(t.Context(), s, others)
	require.NoError(t, err)
	byCall := map[string]replay.Prediction{}
	for _, p := range list {
		byCall[s.Steps[p.Step].ID] = p
	}
	return byCall
}

// count compares what replay says with what the hook answered.
func (a *agreement) count(t *testing.T, step sessions.Step, want, answer string) {
	t.Helper()
	a.results++
	equal := want == answer
	if equal {
		a.equal++
	}
	if want == "" && answer == "" {
		return
	}
	a.pruned++
	if equal {
		a.prunedEqual++
		return
	}
	t.Logf("%s %s: replay\n%.600s\nhook\n%.600s", step.Tool, step.ID, want, answer)
}

// liveOpencode runs the hook over a session of opencode, as its plugin asks: what the plugin takes from the session is all that the
// hook knows.
func liveOpencode(t *testing.T, s sessions.Session, a *agreement) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs Node")
	}
	byCall := predictions(t, s, nil)
	type object = map[string]any
	var cases []object
	var steps []sessions.Step
	for at, step := range s.Steps {
		if _, known := byCall[step.ID]; step.Kind == sessions.Result && known && !step.Err && len(step.Out) > 2000 {
			cases = append(cases, object{"messages": opencodeMessages(s.Steps[:at], step.ID), "text": step.Out,
				"input": object{"tool": step.Tool, "sessionID": "s", "callID": step.ID, "args": step.Args}})
			steps = append(steps, step)
		}
	}
	dir := t.TempDir()
	in, err := json.Marshal(cases)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cases.json"), in, 0o600))
	_, code, _ := strings.Cut(agent.Opencode.Hooks.Plugin, "\n\n")
	code = "import { readFileSync } from \"node:fs\"\nconst shortestOutput = 2000, asked = []\nconst ask = async (m) => (asked.push(m), {})\n" + code + `
for (const c of JSON.parse(readFileSync("cases.json", "utf8"))) {
  const plugin = await McpPruner({ client: { session: { messages: async () => ({ data: c.messages }) } } })
  await plugin["tool.execute.after"](c.input, { output: c.text })
}
process.stdout.write(JSON.stringify(asked))
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plugin.mjs"), []byte(code), 0o600))
	cmd := exec.Command(node, "plugin.mjs")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	var asked []object
	require.NoError(t, json.Unmarshal(out, &asked))
	messages := map[any]object{}
	for _, m := range asked {
		messages[m["callID"]] = m
	}
	w := &world{t: t, state: dir}
	for _, step := range steps {
		answer := ""
		if m, ok := messages[step.ID]; ok { // else it is too short
			answer = w.hook([]string{"opencode"}, m)
		}
		want := ""
		if p := byCall[step.ID]; p.Pruned {
			text, err := answerOf(&agent.Opencode, nil, history.KindOf(step.Tool), &existing.Replacement{Cut: p.Cut, Way: wayIn(answer)}, p.Body)
			require.NoError(t, err)
			want = string(text)
		}
		a.count(t, step, want, answer)
	}
}

// opencodeMessages returns steps as opencode's messages. The call of the id is the one that runs.
func opencodeMessages(steps []sessions.Step, running string) (messages []map[string]any) {
	type object = map[string]any
	results := map[string]sessions.Step{}
	for _, step := range steps {
		if step.Kind == sessions.Result {
			results[step.ID] = step
		}
	}
	add := func(role string, part object) {
		if len(messages) == 0 || messages[len(messages)-1]["info"].(object)["role"] != role {
			messages = append(messages, object{"info": object{"role": role}, "parts": []object{}})
		}
		last := messages[len(messages)-1]
		last["parts"] = append(last["parts"].([]object), part)
	}
	for _, step := range steps {
		switch step.Kind {
		case sessions.User:
			add("user", object{"type": "text", "text": step.Text})
		case sessions.Call:
			add("assistant", object{"type": "step-start"})
		case sessions.Say:
			if step.Think != "" {
				add("assistant", object{"type": "reasoning", "text": step.Think})
			}
			if step.Text != "" {
				add("assistant", object{"type": "text", "text": step.Text})
			}
		case sessions.Use:
			state := object{"status": "running", "input": step.Args}
			if r, ended := results[step.ID]; ended && step.ID != running {
				state = object{"status": "completed", "input": step.Args, "output": r.Out}
				if r.Err {
					state["status"] = "error"
				}
			}
			add("assistant", object{"type": "tool", "tool": step.Tool, "callID": step.ID, "state": state})
		}
	}
	return messages
}
