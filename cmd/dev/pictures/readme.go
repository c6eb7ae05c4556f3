package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// drawReadme draws the README's picture: a log, and what Claude Code's model reads of it once the program's hook has cut it.
func drawReadme(program, out string) error {
	log := serviceLog()
	read, err := hooked(program, log)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "before-after.svg"), draw(log, read), 0o644)
}

const (
	logLines = 1200
	command  = "cat api.log"
	asked    = "Find out why the order page fails."
)

// serviceLog returns the log of a service: requests, and the place where the database has no connection left.
func serviceLog() []string {
	lines := make([]string, logLines)
	for i := range lines {
		lines[i] = fmt.Sprintf("09:%02d:%02d INFO  api  request %d: GET /orders/%d 200 in %d ms", i/60, i%60, 4000+i, i*37%911, i*13%47+3)
	}
	for i, line := range []string{
		"09:12:20 WARN  db   0 of 20 connections are free", "09:12:21 ERROR api  request 4741: GET /orders/34 500: timeout after 5 s",
		"    at OrderStore.find (orders.go:118)", "    at Handler.show (handler.go:64)", "    caused by: 20 connections are held since 09:07 by report (report.go:31)",
	} {
		lines[740+i] = line
	}
	return lines
}

// hooked returns the lines that the model reads of a command's output after the hook.
func hooked(program string, output []string) ([]string, error) {
	home, err := os.MkdirTemp("", "picture-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	transcript := filepath.Join(home, "session.jsonl")
	if err := os.WriteFile(transcript, transcriptOf(home), 0o600); err != nil {
		return nil, err
	}
	event, err := json.Marshal(map[string]any{
		"hook_event_name": "PostToolUse", "session_id": "s", "transcript_path": transcript, "cwd": home, "tool_name": "Bash", "tool_use_id": "toolu_1",
		"tool_input": map[string]any{"command": command}, "tool_response": map[string]any{"stdout": strings.Join(output, "\n"), "stderr": "", "interrupted": false, "isImage": false},
	})
	if err != nil {
		return nil, err
	}
	hook := exec.Command(program, "hook", "claude")
	hook.Env = []string{"HOME=" + home, "PATH=" + filepath.Dir(program)} // found on PATH, it calls itself by its name
	hook.Stdin = bytes.NewReader(event)
	raw, err := hook.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	var answer struct {
		Output struct{ UpdatedToolOutput struct{ Stdout string } } `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, err
	}
	return strings.Split(answer.Output.UpdatedToolOutput.Stdout, "\n"), nil
}

// transcriptOf returns a session that begins with the user's question and the agent's call.
func transcriptOf(folder string) []byte {
	call := map[string]any{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": map[string]any{"command": command}}
	var b bytes.Buffer
	for _, line := range []map[string]any{
		{"type": "user", "message": map[string]any{"role": "user", "content": asked}},
		{"type": "assistant", "message": map[string]any{"id": "m1", "role": "assistant", "model": "claude-opus-4-6", "content": []any{call}}},
	} {
		line["sessionId"], line["cwd"] = "s", folder
		raw, _ := json.Marshal(line) // of maps and strings; it cannot fail
		b.Write(append(raw, '\n'))
	}
	return b.Bytes()
}
