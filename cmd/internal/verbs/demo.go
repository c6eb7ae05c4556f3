package verbs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// demoCommand starts this program as a client would. It reads a file over standard input and output, once without and
// once with a question, and shows the answers that an agent gets.
func demoCommand(p command.Process) *cobra.Command {
	var question string
	c := &cobra.Command{
		Use:   "demo -q QUESTION FILE",
		Short: "Read a file over the real server with a question: before and after",
		Long: `Reads FILE twice through the real server, as an agent would: without a question,
and with one.`,
		Example: `  mcp-pruner demo -q "how are retries configured" client.go`,
		Args:    command.OneArgument("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if question == "" {
				return command.Usagef("a question is needed: -q \"what you want to know\"")
			}
			return showDemo(c.Context(), p, args[0], question)
		},
	}
	c.Flags().StringVarP(&question, "question", "q", "", "what you want to know")
	return c
}

func showDemo(ctx context.Context, p command.Process, file, question string) error {
	before, err := demoRead(ctx, p, map[string]any{"file_path": file})
	if err != nil {
		return err
	}
	after, err := demoRead(ctx, p, map[string]any{"file_path": file, "context_focus_question": question})
	if err != nil {
		return err
	}
	lines := slices.Collect(strings.Lines(before))
	out := bufio.NewWriter(p.Stdout)
	fmt.Fprintf(out, "--- read %s: %d lines, %d bytes. It begins:\n\n%s\n", file, len(lines), len(before), head(lines, 8))
	fmt.Fprintf(out, "--- read %s, asking %q:\n\n%s\n", file, question, strings.TrimSuffix(after, "\n"))
	saved := float64(len(before)-len(after)) / float64(max(1, len(before)))
	fmt.Fprintf(out, "\n--- %d bytes became %d: %.0f %% saved\n", len(before), len(after), 100*saved)
	if after == before {
		fmt.Fprintln(out, "    A text that is short, or that the question does not fit, comes back whole; \"mcp-pruner prune\" says which.")
	}
	return out.Flush()
}

// demoRead starts the server for one call of read.
func demoRead(ctx context.Context, p command.Process, arguments map[string]any) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	call, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 2, "method": "tools/call",
		"params": map[string]any{"name": "read", "arguments": arguments},
	})
	if err != nil {
		return "", err
	}
	var logs bytes.Buffer
	server := exec.CommandContext(ctx, self)
	server.Env = append(p.Env, "PRUNER_URL=embedded")
	server.Stderr = &logs
	server.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}` + "\n" + string(call) + "\n")
	out, err := server.Output()
	if err != nil {
		return "", fmt.Errorf("the server ended with %w: %s", err, logs.String())
	}
	return demoAnswer(out)
}

// demoAnswer returns the text of the answer to the call.
func demoAnswer(out []byte) (string, error) {
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, len(out)+1)
	for lines.Scan() {
		var answer struct {
			ID     int `json:"id"`
			Result struct {
				IsError bool `json:"isError"`
				Content []struct{ Text string }
			}
			Error *struct {
				Message string
				Data    json.RawMessage
			}
		}
		if json.Unmarshal(lines.Bytes(), &answer) != nil || answer.ID != 2 {
			continue
		}
		if answer.Error != nil {
			return "", fmt.Errorf("the server does not take this file; does it lie in the directory that is served? %s: %s", answer.Error.Message, answer.Error.Data)
		}
		if len(answer.Result.Content) == 0 {
			continue
		}
		text := answer.Result.Content[0].Text
		if answer.Result.IsError {
			return "", fmt.Errorf("%s", text)
		}
		return text, nil
	}
	return "", fmt.Errorf("the server did not answer: %s", out)
}

// head returns the first n lines of a text, and a mark if there are more.
func head(lines []string, n int) string {
	if len(lines) <= n {
		return strings.Join(lines, "")
	}
	return strings.Join(lines[:n], "") + "...\n"
}
