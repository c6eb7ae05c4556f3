// Package view checks the page of `mcp-pruner view` in a real browser, and draws its pictures. The sessions that it shows are
// played: a scripted agent works in a folder that is made up, and the real program's hooks cut what its tools return.
package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Home is a user's home with the transcripts and the state of played sessions.
type Home struct {
	Dir     string
	Program string // mcp-pruner
}

// Env returns the environment of the home's user.
func (h Home) Env(more ...string) []string {
	return append([]string{"HOME=" + h.Dir, "XDG_STATE_HOME=" + filepath.Join(h.Dir, "state"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}, more...)
}

// Session is one that is being played, as Claude Code records it.
type Session struct {
	Home    Home
	ID      string
	Project string
	Path    string // of the transcript
	Now     time.Time

	calls  int
	prompt int // tokens of the last one
	grown  int // tokens since then
}

// Play begins a session in a project.
func (h Home) Play(id, project string, begun time.Time) (*Session, error) {
	s := &Session{Home: h, ID: id, Project: filepath.Join(h.Dir, project), Now: begun, grown: 17_000}
	folder := filepath.Join(h.Dir, ".claude", "projects", strings.ReplaceAll(project, "/", "-"))
	s.Path = filepath.Join(folder, id+".jsonl")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Project, 0o700); err != nil {
		return nil, err
	}
	return s, s.Say("Find why retries are counted twice, and mend it.")
}

// Say adds a message of the user.
func (s *Session) Say(text string) error {
	return s.line(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
}

// Tool is one tool call with its result.
type Tool struct {
	Why, Name string
	Args      map[string]any
	Out       string // of a Bash; for a Read the content of the file
	File      bool
}

// Turn plays a model call that calls a tool. With hooks the program may cut the result, as the client would ask it to. A tool
// without a name is the end of the agent's turn.
func (s *Session) Turn(t Tool, hooks bool) error {
	s.calls++
	s.Now = s.Now.Add(20 * time.Second)
	id := fmt.Sprintf("toolu_%s_%d", s.ID, s.calls)
	content := []any{map[string]any{"type": "text", "text": t.Why}}
	if t.Name != "" {
		content = append(content, map[string]any{"type": "tool_use", "id": id, "name": t.Name, "input": t.Args})
	}
	cached := s.prompt
	s.prompt, s.grown = s.prompt+s.grown, 120
	usage := map[string]any{"input_tokens": 4, "cache_read_input_tokens": cached, "cache_creation_input_tokens": s.prompt - cached, "output_tokens": 120}
	message := map[string]any{"id": fmt.Sprintf("msg_%s_%d", s.ID, s.calls), "role": "assistant", "model": "claude-opus-4-5", "content": content, "usage": usage}
	if err := s.line(map[string]any{"type": "assistant", "message": message}); err != nil || t.Name == "" {
		return err
	}
	shown, beside := t.Out, ""
	if t.File {
		shown = numbered(t.Out, 1)
	}
	if hooks {
		var err error
		if shown, beside, err = s.hook(id, t, shown); err != nil {
			return err
		}
	}
	s.grown += (len(shown) + len(beside)) * 10 / 33
	if err := s.line(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": id, "content": shown}}}}); err != nil || beside == "" {
		return err
	}
	return s.line(map[string]any{"type": "attachment", "attachment": map[string]any{"type": "hook_additional_context", "content": beside}})
}

// hook runs the program as Claude Code does after a tool, and returns what the model is shown.
func (s *Session) hook(id string, t Tool, shown string) (text, beside string, err error) {
	var response any = map[string]any{"stdout": t.Out, "stderr": "", "interrupted": false, "isImage": false}
	if t.File {
		n := strings.Count(t.Out, "\n") + 1
		response = map[string]any{"type": "text", "file": map[string]any{"filePath": t.Args["file_path"], "content": t.Out, "numLines": n, "startLine": 1, "totalLines": n}}
	}
	message, err := json.Marshal(map[string]any{"session_id": s.ID, "transcript_path": s.Path, "cwd": s.Project, "hook_event_name": "PostToolUse",
		"tool_name": t.Name, "tool_input": t.Args, "tool_response": response, "tool_use_id": id})
	if err != nil {
		return "", "", err
	}
	cmd := exec.Command(s.Home.Program, "hook", "claude")
	cmd.Env, cmd.Dir, cmd.Stdin = s.Home.Env(), s.Project, bytes.NewReader(message)
	answer, err := cmd.Output()
	if err != nil || len(answer) == 0 {
		return shown, "", err
	}
	var a struct {
		Output struct {
			Context string `json:"additionalContext"`
			Tool    struct {
				Stdout string `json:"stdout"`
				File   struct {
					Content   string `json:"content"`
					StartLine int    `json:"startLine"`
				} `json:"file"`
			} `json:"updatedToolOutput"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return "", "", fmt.Errorf("%w: %s", err, answer)
	}
	if t.File {
		return numbered(a.Output.Tool.File.Content, max(a.Output.Tool.File.StartLine, 1)), a.Output.Context, nil
	}
	return a.Output.Tool.Stdout, a.Output.Context, nil
}

// numbered numbers lines as Claude Code does.
func numbered(text string, first int) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		fmt.Fprintf(&b, "%d\t%s\n", first+i, line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// line appends a line to the transcript.
func (s *Session) line(entry map[string]any) error {
	entry["sessionId"], entry["cwd"], entry["version"], entry["timestamp"] = s.ID, s.Project, "2.1.0", s.Now.UTC().Format(time.RFC3339Nano)
	text, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
