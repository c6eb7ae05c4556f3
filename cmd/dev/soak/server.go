package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a server under load.
type server struct {
	cmd  *exec.Cmd
	url  string
	logs chan []byte // gets all log output after the first line when the server has ended
}

func startServer(binary, root, pruner, trace string) (*server, error) {
	cmd := exec.Command(binary, "serve", "--root", root)
	cmd.Env = append(os.Environ(), "HOME="+root, "JEEVES_PRUNER_ENDPOINT="+pruner, "JEEVES_PRUNER_TIMEOUT_MS=300",
		"MCP_PRUNER_LOG_LEVEL=error", "MCP_PRUNER_TRACE="+trace,
		"MCP_PRUNER_TRACE_MAX_BYTES=0", "GOTRACEBACK=all") // 0: all records go to one file, which is verified
	out, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	first, err := lines.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the server did not start: %w", err)
	}
	var ready struct{ Data struct{ Port int } }
	if json.Unmarshal(first, &ready) != nil || ready.Data.Port == 0 {
		return nil, fmt.Errorf("the server said %s", first)
	}
	s := &server{cmd: cmd, url: fmt.Sprintf("http://127.0.0.1:%d", ready.Data.Port), logs: make(chan []byte, 1)}
	go func() {
		rest, _ := io.ReadAll(lines)
		s.logs <- rest
	}()
	return s, nil
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// goroutines ends the server with SIGQUIT, which makes it print all goroutines, and lists the state and the top
// function of each.
func (s *server) goroutines() ([]string, error) {
	if err := s.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		return nil, err
	}
	select {
	case dump := <-s.logs:
		_ = s.cmd.Wait()
		var where []string
		for _, g := range strings.Split(string(dump), "\ngoroutine ")[1:] {
			lines := strings.SplitN(g, "\n", 3)
			if !strings.Contains(lines[0], "[GC worker") { // the runtime starts these at the first garbage collection
				where = append(where, strings.Join(lines[:min(2, len(lines))], " "))
			}
		}
		if len(where) == 0 {
			return nil, fmt.Errorf("no goroutines in %s", dump)
		}
		return where, nil
	case <-time.After(10 * time.Second):
		return nil, fmt.Errorf("the server does not answer SIGQUIT")
	}
}

// sample holds the operating system's figures about the server.
type sample struct {
	descriptors, children int
	memory                float64 // MiB resident
}

func (s sample) String() string {
	return fmt.Sprintf("%d descriptors, %d processes, %.0f MiB", s.descriptors, s.children, s.memory)
}

// idle samples a server without load for a second and returns the sample with the fewest descriptors, because
// connections may still be closing.
func (s *server) idle() sample {
	now := s.sample()
	for range 20 {
		time.Sleep(50 * time.Millisecond)
		if next := s.sample(); next.descriptors < now.descriptors {
			now = next
		}
	}
	return now
}

func (s *server) sample() sample {
	pid := s.cmd.Process.Pid
	fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return sample{len(fds), len(below(pid)), resident(pid)}
}

// settled waits until the server has no more child processes and descriptors than before the load. It returns an error
// after 15 seconds.
func (s *server) settled(before sample) error {
	var now sample
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		now = s.sample()
		if now.children <= before.children && now.descriptors <= before.descriptors {
			fmt.Printf("afterwards: %v; before: %v\n", now, before)
			return nil
		}
	}
	return fmt.Errorf("left behind: %v; before there were %v", now, before)
}

func resident(pid int) float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	var kibibytes float64
	_, _ = fmt.Sscan(rest, &kibibytes)
	return kibibytes / 1024
}

// below lists the live descendants of a process, without zombies.
func below(root int) (found []int) {
	children := make(map[int][]int)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, _ := os.ReadFile(path)
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], pid)
	}
	for queue := children[root]; len(queue) > 0; queue = queue[1:] {
		found = append(found, queue[0])
		queue = append(queue, children[queue[0]]...)
	}
	return found
}
