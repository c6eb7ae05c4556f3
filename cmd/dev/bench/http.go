package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const bareHTTPArgument = "bare-mcp-go-http-server"

// serveBareHTTP runs the server for comparison over streamable HTTP: unchanged mcp-go with one tool that reads a
// file. It reports its address in the same form as our server.
func serveBareHTTP() {
	s := server.NewMCPServer("bare", "0")
	s.AddTool(mcp.NewTool("read", mcp.WithString("file_path")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text, err := os.ReadFile(r.GetString("file_path", ""))
		if err != nil {
			return nil, err
		}
		return mcp.NewToolResultText(string(text)), nil
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stderr, `{"event":"mcp_pruner.ready","data":{"port":%d}}`+"\n", listener.Addr().(*net.TCPAddr).Port)
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.NewStreamableHTTPServer(s))
	_ = http.Serve(listener, mux)
}

// web is a server over HTTP.
type web struct {
	cmd *exec.Cmd
	url string
}

// serveWeb starts a server and waits until it reports its address.
func serveWeb(root, command string, args ...string) (*web, error) {
	cmd := exec.Command(command, args...)
	cmd.Dir = root
	cmd.Env = withoutProfile(root)
	logs, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(logs)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%s ended before it listened", command)
		}
		var e struct {
			Event string
			Data  struct{ Port int }
		}
		if json.Unmarshal(line, &e) == nil && e.Event == "mcp_pruner.ready" {
			go func() { _, _ = io.Copy(io.Discard, lines) }() // read the log, as a real parent process does
			return &web{cmd, fmt.Sprintf("http://127.0.0.1:%d", e.Data.Port)}, nil
		}
	}
}

// withoutProfile returns an environment in which a login shell reads no profile, whose time would be measured too.
func withoutProfile(root string) []string { return append(os.Environ(), "PRUNER_URL=", "HOME="+root) }

func (w *web) close() error {
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	_ = w.cmd.Wait() // returns an error for the bare server, which does not handle the signal
	return nil
}

// caller is a client with its own session and connections.
type caller struct {
	url     string
	session string
	http    http.Client
}

func (w *web) caller() (*caller, error) {
	c := &caller{url: w.url, http: http.Client{Transport: &http.Transport{}}}
	_, err := c.post(initialize)
	return c, err
}

// post posts one message and returns the answer.
func (c *caller) post(message string) ([]byte, error) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.url+"/mcp", strings.NewReader(message))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	body, err := io.ReadAll(response.Body)
	if err == nil && !strings.Contains(string(body[:min(len(body), 120)]), `"result"`) {
		err = fmt.Errorf("answered %s %.300s", response.Status, body)
	}
	return body, err
}

// requests times small reads over HTTP by one client and by eight clients at once, in blocks that alternate between our
// server and the bare one.
func requests(w *tabwriter.Writer, binary, root string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ours, err := serveWeb(root, binary, "serve")
	if err != nil {
		return err
	}
	theirs, err := serveWeb(root, self, bareHTTPArgument)
	if err != nil {
		return err
	}
	for _, clients := range []int{1, 8} {
		if err := compareRequests(w, clients, []*web{ours, theirs}); err != nil {
			return err
		}
	}
	if err := ours.close(); err != nil {
		return err
	}
	return theirs.close()
}

func compareRequests(w *tabwriter.Writer, clients int, servers []*web) error {
	const blocks, perBlock = 20, 800
	var times [2][]time.Duration
	var took [2]time.Duration
	callers := make([][]*caller, len(servers))
	for i, s := range servers {
		for range clients {
			c, err := s.caller()
			if err != nil {
				return err
			}
			callers[i] = append(callers[i], c)
		}
	}
	for block := range blocks {
		for i := range servers {
			began := time.Now()
			each, err := timeReads(callers[i], perBlock/clients)
			if err != nil {
				return err
			}
			if block > 0 { // the first block warms up
				took[i] += time.Since(began)
				times[i] = append(times[i], each...)
			}
		}
	}
	fmt.Fprintf(w, "one small read over HTTP, %d at once\tp50\tp99\trequests/s\t\n", clients)
	var rates [2]float64
	for i, name := range []string{"mcp-pruner serve, machine and logs on", "bare mcp-go, os.ReadFile"} {
		record("HTTP", name, times[i])
		rates[i] = float64(len(times[i])) / took[i].Seconds()
		fmt.Fprintf(w, "%s\t%v\t%v\t%.0f\t\n", name, percentile(times[i], .5), percentile(times[i], .99), rates[i])
	}
	fmt.Fprintf(w, "ratio\t%s\t%s\t%.2f\t\n", ratio(percentile(times[0], .5), percentile(times[1], .5)),
		ratio(percentile(times[0], .99), percentile(times[1], .99)), rates[0]/rates[1])
	return nil
}

// timeReads makes all callers read at once, n times each, and returns the time of each read.
func timeReads(callers []*caller, n int) ([]time.Duration, error) {
	message := request(1, "read", map[string]any{"file_path": "small.txt"})
	times, failed := make([][]time.Duration, len(callers)), make([]error, len(callers))
	var all sync.WaitGroup
	for i, c := range callers {
		all.Go(func() {
			for range n {
				began := time.Now()
				if _, failed[i] = c.post(message); failed[i] != nil {
					return
				}
				times[i] = append(times[i], time.Since(began))
			}
		})
	}
	all.Wait()
	var flat []time.Duration
	for i := range callers {
		if failed[i] != nil {
			return nil, failed[i]
		}
		flat = append(flat, times[i]...)
	}
	return flat, nil
}
