package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
	"time"
)

// searches times the grep tool on a log of 34 MB and on a tree of 2,000 files. Calls of the tool alternate with runs of
// the rg command that it uses.
func searches(w *tabwriter.Writer, binary, root string) error {
	if _, err := exec.LookPath("rg"); err != nil {
		fmt.Fprintln(w, "searches: rg is not installed")
		return nil
	}
	if err := writeSearched(root); err != nil {
		return err
	}
	fmt.Fprintln(w, "search\tours p50\trg p50\tratio\tratio of processor time\t")
	for _, s := range []search{
		{"few matches in a log of 34 MB", "order 4711 ", "log", "content", "--json"},
		{"500,000 matches in it", "order", "log", "content", "--json"},
		{"the same, counted", "order", "log", "count", "-c"},
		{"few matches in 2,000 files", "step777", "tree", "content", "--json"},
		{"a match on every line of them", "return", "tree", "content", "--json"},
		{"the same, names of files", "return", "tree", "files", "-l"},
	} {
		if err := s.compare(w, binary, root); err != nil {
			return err
		}
	}
	return nil
}

// search is one search. mode is the tool's output_mode, and option the corresponding option of rg.
type search struct{ about, pattern, path, mode, option string }

// compare times the tool and rg in turn. On a busy machine the tool and its rg process also wait for each other, so the
// ratio of processor time, which includes that of the tool's rg, is more reliable than the ratio of elapsed time.
func (s search) compare(w io.Writer, binary, root string) error {
	ours, err := start(root, nil, binary)
	if err != nil {
		return err
	}
	if _, err := ours.ask(initialize); err != nil {
		return err
	}
	var times [2][]time.Duration
	var used time.Duration
	for n := range 15 {
		took, err := ours.call(n+1, "grep", map[string]any{"pattern": s.pattern, "path": s.path, "output_mode": s.mode})
		if err != nil {
			return err
		}
		bare, processor, err := timeRg(s.option, "-e", s.pattern, filepath.Join(root, s.path))
		if err != nil {
			return err
		}
		times[0], times[1], used = append(times[0], took), append(times[1], bare), used+processor
	}
	if err := ours.close(); err != nil {
		return err
	}
	a, b := percentile(times[0], .5), percentile(times[1], .5)
	record("Search", s.about, times[0])
	record("Rg", s.about, times[1])
	fmt.Fprintf(w, "%s\t%v\t%v\t%s\t%s\t\n", s.about, a, b, ratio(a, b), ratio(processorTime(ours.cmd), used))
	return nil
}

func processorTime(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// timeRg runs rg, reads its output, and returns its elapsed time and its processor time.
func timeRg(args ...string) (took, processor time.Duration, err error) {
	began := time.Now()
	cmd := exec.Command("rg", args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		return 0, 0, err
	}
	err = cmd.Wait()
	return time.Since(began), processorTime(cmd), err
}

func writeSearched(root string) error {
	log, err := os.Create(filepath.Join(root, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	to := bufio.NewWriter(log)
	for i := range 500_000 {
		fmt.Fprintf(to, "2026-03-02 11:22:33 INFO checkout order %d received, %d items, total %d\n", i%9000, i%7, i)
	}
	if err := to.Flush(); err != nil {
		return err
	}
	for i := range 2000 {
		dir := filepath.Join(root, "tree", fmt.Sprint(i%50))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		var text []byte
		for j := range 50 {
			text = fmt.Appendf(text, "func step%d_%d(n int) int { return n + %d }\n", i, j, j)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", i)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
