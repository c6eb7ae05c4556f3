package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

// proxied times requests of 1.1 and 0.1 MB to an API on this machine: straight, through a proxy that only copies, and
// through one that clears results. The three alternate.
func proxied(w *tabwriter.Writer, binary, root string) error {
	api := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(rw, `{"usage":{"input_tokens":1,"output_tokens":1}}`)
	}))
	defer api.Close()
	urls := []string{api.URL}
	for _, policy := range []string{"off", "gc"} {
		url, stop, err := startProxy(binary, api.URL, policy, filepath.Join(root, policy+".db"), root)
		if err != nil {
			return err
		}
		defer stop()
		urls = append(urls, url)
	}
	for _, calls := range []int{130, 11} {
		if err := through(w, urls, history(calls)); err != nil {
			return err
		}
	}
	return nil
}

// through times a request straight to the API and through each proxy, in turns.
func through(w *tabwriter.Writer, urls []string, body []byte) error {
	times := make([][]time.Duration, len(urls))
	for round := range 220 {
		for i, url := range urls {
			began := time.Now()
			res, err := http.Post(url+"/v1/messages", "application/json", bytes.NewReader(body))
			if err != nil {
				return err
			}
			_, _ = io.Copy(io.Discard, res.Body)
			if err := res.Body.Close(); err != nil {
				return err
			}
			if round >= 20 { // the first 20 rounds warm up
				times[i] = append(times[i], time.Since(began))
			}
		}
	}
	straight := percentile(times[0], .5)
	fmt.Fprintf(w, "a request of %.1f MB to an API on this machine\tp50\tp99\tmore than straight\ttimes straight\t\n", float64(len(body))/1e6)
	for i, name := range []string{"straight", "mcp-pruner proxy --policy off", "mcp-pruner proxy --policy gc"} {
		record("Proxy", fmt.Sprintf("%s, %.1f MB", name, float64(len(body))/1e6), times[i])
		p50 := percentile(times[i], .5)
		fmt.Fprintf(w, "%s\t%v\t%v\t%v\t%.1f\t\n", name, p50, percentile(times[i], .99), p50-straight, float64(p50)/float64(straight))
	}
	return nil
}

func startProxy(binary, api, policy, store, state string) (url string, stop func(), err error) {
	cmd := exec.Command(binary, "proxy", "--upstream", api, "--policy", policy, "--store", store)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state) // the user's own secret stays out of it
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	lines := bufio.NewReader(stderr)
	first, err := lines.ReadBytes('\n')
	var ready struct {
		Data struct {
			File string `json:"url_file"`
		}
	}
	if err == nil {
		err = json.Unmarshal(first, &ready)
	}
	var address []byte
	if err == nil {
		address, err = os.ReadFile(ready.Data.File)
	}
	if err != nil {
		stop()
		return "", nil, err
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return strings.TrimSpace(string(address)), stop, nil
}

// history returns a conversation of n calls, each with about 8 kB of output.
func history(n int) []byte {
	messages := []any{map[string]any{"role": "user", "content": "fix the bug"}}
	for i := range n {
		id := fmt.Sprintf("toolu_%d", i)
		messages = append(messages,
			map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": id}}}},
			map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id,
				"content": strings.Repeat(fmt.Sprintf("line of the output of call %d, \"quoted\" and more\n", i), 160)}}})
	}
	body, err := json.Marshal(map[string]any{"model": "claude-opus-5", "system": strings.Repeat("You are an agent. ", 2000),
		"tools": []any{map[string]any{"name": "Bash"}}, "messages": messages})
	if err != nil {
		panic(err) // impossible: strings and maps can be encoded
	}
	return body
}
