package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

// roundTrips times small reads over stdio, in blocks that alternate between our server and the bare one.
func roundTrips(w *tabwriter.Writer, binary, root string) error {
	ours, err := start(root, nil, binary)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bare, err := start(root, nil, self, bareArgument)
	if err != nil {
		return err
	}
	var times [2][]time.Duration
	const blocks, perBlock = 40, 500
	for block := range blocks {
		for i, c := range []*client{ours, bare} {
			if block == 0 {
				if _, err := c.ask(initialize); err != nil {
					return err
				}
			}
			for n := range perBlock {
				took, err := c.call(n+1, "read", map[string]any{"file_path": "small.txt"})
				if err != nil {
					return err
				}
				if block > 0 { // the first block warms up
					times[i] = append(times[i], took)
				}
			}
		}
	}
	fmt.Fprintln(w, "one small read over stdio\tp50\tp99\tcalls/s\t")
	var figures [2][3]time.Duration
	for i, name := range []string{"mcp-pruner, machine and logs on", "bare mcp-go, one trivial tool"} {
		var sum time.Duration
		for _, d := range times[i] {
			sum += d
		}
		record("Stdio", name, times[i])
		figures[i] = [3]time.Duration{percentile(times[i], .5), percentile(times[i], .99), sum}
		fmt.Fprintf(w, "%s\t%v\t%v\t%.0f\t\n", name, figures[i][0], figures[i][1], float64(len(times[i]))/sum.Seconds())
	}
	fmt.Fprintf(w, "ratio\t%s\t%s\t%s\t\n", ratio(figures[0][0], figures[1][0]), ratio(figures[0][1], figures[1][1]), ratio(figures[1][2], figures[0][2]))
	for i, c := range []*client{ours, bare} {
		if err := c.close(); err != nil {
			return err
		}
		used := c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime()
		fmt.Fprintf(w, "processor time a call, server %d\t%v\t\t\t\n", i+1, (used / (blocks * perBlock)).Round(100*time.Nanosecond))
	}
	return nil
}

// pings times ping while 100 calls start and sleep. For comparison it times ping of a bare server while this process
// starts 100 shells: that time is the machine's share. Rounds alternate.
func pings(w *tabwriter.Writer, binary, root string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var all, worst [2][]time.Duration
	const rounds = 7
	for range rounds {
		for i, measure := range []func() ([]time.Duration, error){
			func() ([]time.Duration, error) { return pingUnderCalls(binary, root) },
			func() ([]time.Duration, error) { return pingBesideShells(self, root) },
		} {
			times, err := measure()
			if err != nil {
				return err
			}
			all[i] = append(all[i], times...)
			worst[i] = append(worst[i], percentile(times, 1))
		}
	}
	fmt.Fprintf(w, "ping while 100 commands start and sleep, %d rounds\tp50\tp99\tmax, median round\tmax\t\n", rounds)
	for i, name := range []string{"mcp-pruner, they are its calls", "bare mcp-go, they are not"} {
		record("Ping", name, all[i])
		fmt.Fprintf(w, "%s\t%v\t%v\t%v\t%v\t\n", name, percentile(all[i], .5), percentile(all[i], .99), percentile(worst[i], .5), percentile(worst[i], 1))
	}
	return nil
}

const manyCommands = 100

func pingUnderCalls(binary, root string) ([]time.Duration, error) {
	c, err := start(root, nil, binary)
	if err != nil {
		return nil, err
	}
	for i := range manyCommands {
		if _, err := fmt.Fprintln(c.in, request(1000+i, "bash", map[string]any{"command": "sleep 2"})); err != nil {
			return nil, err
		}
	}
	times, err := c.pings()
	return times, errors.Join(err, c.close())
}

func pingBesideShells(self, root string) ([]time.Duration, error) {
	c, err := start(root, nil, self, bareArgument)
	if err != nil {
		return nil, err
	}
	shells := make(chan error, 1)
	go func() {
		_, err := together(manyCommands, func(int) error {
			shell := exec.Command("bash", "-lc", "--", "sleep 2")
			shell.Env = withoutProfile(root)
			return shell.Run()
		})
		shells <- err
	}()
	times, err := c.pings()
	return times, errors.Join(err, <-shells, c.close())
}

// pings times 100 pings, one after the other.
func (c *client) pings() (times []time.Duration, err error) {
	for i := range 100 {
		began := time.Now()
		if _, err := c.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)); err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}

// memory measures the server's peak memory, without its children, for outputs of 1 GB.
func memory(w *tabwriter.Writer, binary, root string) error {
	big := filepath.Join(root, "big.txt")
	f, err := os.Create(big)
	if err != nil {
		return err
	}
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = 'x'
		if i%80 == 79 {
			block[i] = '\n'
		}
	}
	for range 1024 {
		if _, err := f.Write(block); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	fmt.Fprintln(w, "peak memory of the server\tcap 64 KiB\tdefault cap\t")
	for _, c := range []struct {
		name, tool string
		args       map[string]any
	}{
		{"read opens a 1 GB file", "read", map[string]any{"file_path": "big.txt"}},
		{"bash prints 1 GB", "bash", map[string]any{"command": "cat big.txt", "timeout_ms": 120000}},
	} {
		c.args["max_output_bytes"] = 65536
		small, err := peak(binary, root, c.tool, c.args)
		if err != nil {
			return err
		}
		delete(c.args, "max_output_bytes")
		whole, err := peak(binary, root, c.tool, c.args)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%.0f MiB\t%.0f MiB\t\n", c.name, small, whole)
	}
	return nil
}

func peak(binary, root, tool string, args map[string]any) (mebibytes float64, err error) {
	c, err := start(root, nil, binary)
	if err != nil {
		return 0, err
	}
	if _, err := c.call(1, tool, args); err != nil {
		return 0, err
	}
	resident := peakResident(c.cmd.Process.Pid)
	if err := c.close(); err != nil {
		return 0, err
	}
	return resident, nil
}

// peakResident returns the largest resident set of a running process in MiB, without its children, or 0 if the system
// does not report it.
func peakResident(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kibibytes float64
	if _, err := fmt.Sscan(rest, &kibibytes); err != nil {
		return 0
	}
	return kibibytes / 1024
}
