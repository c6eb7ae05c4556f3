package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"text/tabwriter"
	"time"
)

// crowd compares 64 clients, each of which runs a command that sleeps for a second, with 64 shells that this process
// starts at once. It times /healthz during both. The time during the shells is the machine's share, because the server
// is idle then.
func crowd(w *tabwriter.Writer, binary, root string) error {
	const clients = 64
	s, err := serveWeb(root, binary, "serve")
	if err != nil {
		return err
	}
	callers := make([]*caller, clients)
	for i := range callers {
		if callers[i], err = s.caller(); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%d times \"sleep 1\" at once\tall done\t/healthz p50\tp99\tmax\t\n", clients)
	var took []time.Duration
	for _, kind := range []struct {
		name string
		do   func(int) error
	}{
		{"calls of mcp-pruner serve", func(i int) error {
			_, err := callers[i].post(request(1, "bash", map[string]any{"command": "sleep 1"}))
			return err
		}},
		{"shells, the server idle", func(int) error {
			shell := exec.Command("bash", "-lc", "--", "sleep 1")
			shell.Env = withoutProfile(root)
			return shell.Run()
		}},
	} {
		done := make(chan struct{})
		health := make(chan []time.Duration)
		go func() { health <- timeHealth(s.url, done) }()
		all, err := together(clients, kind.do)
		close(done)
		times := <-health
		if err != nil {
			return err
		}
		took = append(took, all)
		fmt.Fprintf(w, "%s\t%v\t%v\t%v\t%v\t\n", kind.name, all.Round(time.Millisecond), percentile(times, .5), percentile(times, .99), percentile(times, 1))
	}
	fmt.Fprintf(w, "ratio\t%s\t\t\t\t\n", ratio(took[0], took[1]))
	return s.close()
}

// together calls do n times at once and returns how long it took until all calls had returned.
func together(n int, do func(int) error) (time.Duration, error) {
	failed := make([]error, n)
	began := time.Now()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { failed[i] = do(i) })
	}
	all.Wait()
	for _, err := range failed {
		if err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// timeHealth requests /healthz every 10 ms until done is closed, and returns the time of each request.
func timeHealth(url string, done <-chan struct{}) (times []time.Duration) {
	for {
		began := time.Now()
		response, err := http.Get(url + "/healthz")
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		times = append(times, time.Since(began))
		select {
		case <-done:
			return times
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// greedy times a read and a command of a new client while 64 other clients have requested five long commands each.
func greedy(w *tabwriter.Writer, binary, root string) error {
	const clients, each, atWork = 64, 5, 192 // atWork: slots that clients with the same name get, of 256
	s, err := serveWeb(root, binary, "serve")
	if err != nil {
		return err
	}
	started := filepath.Join(root, "started")
	if err := os.Mkdir(started, 0o700); err != nil {
		return err
	}
	for i := range clients {
		c, err := s.caller()
		if err != nil {
			return err
		}
		for j := range each {
			go func() { // returns when the server ends
				_, _ = c.post(request(j, "bash", map[string]any{"command": fmt.Sprintf("touch started/%d.%d; exec sleep 600", i, j), "timeout_ms": 300_000}))
			}()
		}
	}
	for n := 0; n < atWork; {
		entries, err := os.ReadDir(started)
		if err != nil {
			return err
		}
		n = len(entries)
		time.Sleep(100 * time.Millisecond)
	}
	var reads, commands []time.Duration
	for range 40 {
		c, err := s.caller()
		if err != nil {
			return err
		}
		for _, call := range []struct {
			message string
			times   *[]time.Duration
		}{
			{request(1, "read", map[string]any{"file_path": "small.txt"}), &reads},
			{request(2, "bash", map[string]any{"command": "true"}), &commands},
		} {
			began := time.Now()
			if _, err := c.post(call.message); err != nil {
				return err
			}
			*call.times = append(*call.times, time.Since(began))
		}
	}
	fmt.Fprintf(w, "the 65th client beside %d with %d long commands each\tp50\tp99\tmax\t\n", clients, each)
	for _, row := range []struct {
		name  string
		times []time.Duration
	}{{"its read", reads}, {"its command (true)", commands}} {
		fmt.Fprintf(w, "%s\t%v\t%v\t%v\t\n", row.name, percentile(row.times, .5), percentile(row.times, .99), percentile(row.times, 1))
	}
	return s.close()
}
