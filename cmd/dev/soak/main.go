// Command soak puts the built HTTP server under mixed load with faults and compares every answer with the expected one.
// Afterwards it checks for leaks (goroutines, file descriptors, processes, memory) and for traces that do not follow
// the transition table.
//
//	make soak SOAK=10m
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

func main() {
	length := flag.Duration("for", 10*time.Minute, "how long the load lasts")
	clients := flag.Int("clients", 16, "clients at once")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: soak [-for 10m] [-clients 16] PATH-OF-MCP-PRUNER")
		os.Exit(2)
	}
	if err := soak(flag.Arg(0), *length, *clients); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	fmt.Println("soak: every answer was right, and nothing was left behind")
}

func soak(binary string, length time.Duration, clients int) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	root, err := os.MkdirTemp("", "mcp-pruner-soak")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	if err := writeFiles(root); err != nil {
		return err
	}
	pruner := newMoody()
	trace := filepath.Join(root, "trace.jsonl")

	idle, err := warmServer(binary, root, pruner.url, trace+".idle")
	if err != nil {
		return err
	}
	normal, err := idle.goroutines() // this ends the idle server
	if err != nil {
		return err
	}
	s, err := warmServer(binary, root, pruner.url, trace)
	if err != nil {
		return err
	}
	defer s.kill()
	before := s.idle()
	tally, samples := load(s, length, clients)
	tally.print()
	pruner.close() // otherwise the server keeps connections to it open for the next call
	if err := errors.Join(tally.problem(), s.settled(before), steady(samples)); err != nil {
		return err
	}
	busy, err := s.goroutines()
	if err != nil {
		return err
	}
	fmt.Printf("goroutines: %d, of an idle server %d\n", len(busy), len(normal))
	if len(busy) > len(normal) {
		return fmt.Errorf("%d goroutines are left, an idle server has %d:\n%s", len(busy), len(normal), strings.Join(busy, "\n"))
	}
	verify := exec.Command(binary, "trace", "verify", trace)
	verify.Stdout, verify.Stderr = os.Stdout, os.Stderr
	return verify.Run()
}

// warmServer starts a server and calls bash once, because the first command starts the watcher process, which runs
// until the server ends.
func warmServer(binary, root, pruner, trace string) (*server, error) {
	s, err := startServer(binary, root, pruner, trace)
	if err != nil {
		return nil, err
	}
	c := newClient(s, 0, newTally())
	defer c.http.CloseIdleConnections()
	if err := c.says("ready\n", "bash", `{"command":"echo ready"}`); err != nil {
		s.kill()
		return nil, err
	}
	return s, nil
}

const (
	smallText = "one\ntwo\nthree\n"
	keptText  = "kept\n" // the pruned text that the pruning service returns for every request
	manyFiles = 64
)

// textOf returns the text of file n of the many files: up to about 300 KB.
func textOf(n int) string {
	return strings.Repeat(fmt.Sprintf("file %d has its own line\n", n), 1+n*n*3)
}

func writeFiles(root string) error {
	if err := os.Mkdir(filepath.Join(root, "many"), 0o700); err != nil {
		return err
	}
	files := map[string]string{"small.txt": smallText}
	for n := range manyFiles {
		files[fmt.Sprintf("many/%d.txt", n)] = textOf(n)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// load runs the clients for the given time and samples the server at intervals.
func load(s *server, length time.Duration, clients int) (*tally, []sample) {
	end := time.Now().Add(length)
	t := newTally()
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() { newClient(s, uint64(i), t).run(end) })
	}
	var samples []sample
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	every := max(length/60, time.Second)
	for {
		select {
		case <-done:
			return t, samples
		case <-time.After(every):
			samples = append(samples, s.sample())
			fmt.Printf("%8s  %v\n", time.Until(end).Round(time.Second), samples[len(samples)-1])
		}
	}
}

// steady returns an error if the server used much more memory in the last third of the time than in the second third: a
// leak keeps growing, a cache does not.
func steady(samples []sample) error {
	third := len(samples) / 3
	if third == 0 {
		return nil
	}
	middle, last := meanMemory(samples[third:2*third]), meanMemory(samples[2*third:])
	fmt.Printf("memory: %.0f MiB in the middle, %.0f MiB at the end\n", middle, last)
	if last > 1.3*middle+16 {
		return fmt.Errorf("memory grows: %.0f MiB in the middle, %.0f MiB at the end", middle, last)
	}
	return nil
}

func meanMemory(samples []sample) float64 {
	var sum float64
	for _, s := range samples {
		sum += s.memory
	}
	return sum / float64(len(samples))
}
