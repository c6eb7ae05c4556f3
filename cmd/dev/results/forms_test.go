package results

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// frame returns the lines that the client puts around the result, which no door may cut: fences, the exit status.
func (s *Sample) frame(door string) (lines []string) {
	if door != "hook" && door != "proxy" {
		return nil
	}
	before, after, ok := strings.Cut(s.at(door), strings.TrimSuffix(s.text, "\n"))
	if !ok || s.call().Kind == history.Read {
		return nil // numbered
	}
	before = before[:strings.LastIndexByte(before, '\n')+1] // without what stands in the result's first line
	for _, line := range strings.Split(before+after, "\n") {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// hooked returns the result as a hook passes it on. Codex and opencode tell a hook a command's exit status apart from
// its output, and the hook puts it first.
func (s *Sample) hooked() string {
	if s.call().Kind == history.Bash && (s.client == "codex" || s.client == "opencode") {
		return fmt.Sprintf("Process exited with code %d\nOutput:\n%s", s.exit, s.text)
	}
	return s.shown()
}

// at returns the whole result as a door's output shows its lines.
func (s *Sample) at(door string) string {
	switch door {
	case "hook":
		return s.hooked()
	case "proxy":
		return s.sent()
	case "server":
		if s.call().Kind == history.Grep {
			return foundByUs(s.text)
		}
	}
	return s.text
}

// answered returns what the model is shown after a hook's answer: its texts in the order in which the client shows them.
func (s *Sample) answered(answer string) string {
	var m struct {
		Reason, Output     string
		HookSpecificOutput struct {
			AdditionalContext string
			UpdatedToolOutput json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		return "no JSON: " + answer
	}
	switch s.client {
	case "codex", "gemini":
		return m.Reason
	case "opencode":
		return m.Output
	}
	var shape struct {
		Stdout, Content string
		File            struct {
			Content   string
			StartLine int
		}
	}
	var blocks []struct{ Text string }
	if json.Unmarshal(m.HookSpecificOutput.UpdatedToolOutput, &blocks) == nil && len(blocks) == 1 {
		return blocks[0].Text
	}
	if err := json.Unmarshal(m.HookSpecificOutput.UpdatedToolOutput, &shape); err != nil {
		return "no shape: " + answer
	}
	if s.call().Kind != history.Read {
		return shape.Stdout + shape.Content
	}
	var b strings.Builder
	for i, line := range strings.Split(shape.File.Content, "\n") {
		fmt.Fprintf(&b, "%d\t%s\n", shape.File.StartLine+i, line)
	}
	return b.String() + "[note]\n" + m.HookSpecificOutput.AdditionalContext
}

// received returns the result in a request that the proxy sent on.
func (s *Sample) received(body []byte) string {
	var m struct {
		Messages []struct{ Content json.RawMessage }
		Input    []struct{ Output string }
		Contents []struct {
			Parts []struct {
				FunctionResponse struct{ Response struct{ Output string } }
			}
		}
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return "no JSON: " + string(body)
	}
	switch s.client {
	case "codex":
		return m.Input[len(m.Input)-1].Output
	case "gemini":
		return m.Contents[len(m.Contents)-1].Parts[0].FunctionResponse.Response.Output
	case "claude":
		var blocks []struct{ Content string }
		if json.Unmarshal(m.Messages[len(m.Messages)-1].Content, &blocks) != nil || len(blocks) != 1 {
			return "not one result: " + string(body)
		}
		return blocks[0].Content
	}
	var text string
	if json.Unmarshal(m.Messages[len(m.Messages)-1].Content, &text) != nil {
		return "no text: " + string(body)
	}
	return text
}
