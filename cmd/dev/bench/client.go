package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// client is a client of one server over its standard streams.
type client struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(root string, env []string, command string, args ...string) (*client, error) {
	cmd := exec.Command(command, args...)
	cmd.Env = append(append(os.Environ(), "HOME="+root, "MCP_PRUNER_CWD="+root, "PRUNER_URL="), env...) // HOME: no profile of the user is read
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	logs, err := cmd.StderrPipe() // read below, as real clients do
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { _, _ = io.Copy(io.Discard, logs) }()
	return &client{cmd, in, bufio.NewReaderSize(out, 1<<20)}, nil
}

func (c *client) close() error {
	_ = c.in.Close()
	_, _ = io.Copy(io.Discard, c.out)
	return c.cmd.Wait()
}

// ask sends one line and waits for one line.
func (c *client) ask(line string) ([]byte, error) {
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		return nil, err
	}
	return c.out.ReadBytes('\n')
}

// call makes one tool call and returns how long it took. Any answer without a result is an error.
func (c *client) call(id int, tool string, args map[string]any) (time.Duration, error) {
	line := request(id, tool, args)
	began := time.Now()
	answer, err := c.ask(line)
	took := time.Since(began)
	if err == nil && !strings.Contains(string(answer[:min(len(answer), 80)]), `"result"`) {
		err = fmt.Errorf("answered %.300s", answer)
	}
	return took, err
}

func request(id int, tool string, args map[string]any) string {
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": args},
	})
	if err != nil { // impossible: strings, numbers and maps can be encoded
		panic(err)
	}
	return string(line)
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
	`"clientInfo":{"name":"bench","version":"0"}}}`

// firstTool opens the session and returns the name of the server's first tool.
func (c *client) firstTool() (string, error) {
	if _, err := c.ask(initialize); err != nil {
		return "", err
	}
	line, err := c.ask(`{"jsonrpc":"2.0","id":0,"method":"tools/list"}`)
	if err != nil {
		return "", err
	}
	var answer struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal(line, &answer); err != nil || len(answer.Result.Tools) == 0 {
		return "", fmt.Errorf("no tools: %.300s", line)
	}
	return answer.Result.Tools[0].Name, nil
}

func percentile(times []time.Duration, p float64) time.Duration {
	slices.Sort(times)
	return times[min(len(times)-1, int(p*float64(len(times))))]
}

func ratio(a, b time.Duration) string { return fmt.Sprintf("%.2f", float64(a)/float64(b)) }
