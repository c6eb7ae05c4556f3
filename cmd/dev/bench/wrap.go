package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Arguments of this program that make it a server for the measure wrap, and a relay that only copies bytes.
const (
	quickArgument = "quick-server" // then the number of its tools
	relayArgument = "relay"        // then a command
)

// largeResult is the number of bytes of the text that the tool large returns.
const largeResult = 50 << 20

// serveQuick is a server that answers as fast as a program can: it looks at nothing but the id.
func serveQuick(tools int) {
	in, out := bufio.NewReaderSize(os.Stdin, 1<<20), bufio.NewWriterSize(os.Stdout, 1<<16)
	results := map[string][]byte{
		"initialize": []byte(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"quick","version":"0"}}`),
		"tools/list": []byte(`{"tools":[` + strings.Join(definitions(tools), ",") + `]}`),
		"word":       []byte(`{"content":[{"type":"text","text":"hello"}]}`),
	}
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		name := m.Method
		if name == "tools/call" {
			name = m.Params.Name
		}
		if name == "large" && results[name] == nil {
			line := strings.Repeat("2026-01-01 INFO all is well, say \\\"no\\\" to nobody\\n", largeResult/48)
			results[name] = []byte(`{"content":[{"type":"text","text":"` + line + `"}]}`)
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":`, m.ID)
		_, _ = out.Write(results[name])
		_, _ = out.WriteString("}\n")
		_ = out.Flush()
	}
}

// definitions returns the definitions of tools with descriptions and schemas as public servers have them.
func definitions(n int) []string {
	const texts = `"description":"Gets an entry of the account. Use it when the identifier is known; otherwise search first. Returns JSON.",` +
		`"inputSchema":{"type":"object","additionalProperties":false,"properties":{` +
		`"id":{"type":"string","minLength":1,"description":"The identifier of the entry, as a search returns it."},` +
		`"limit":{"type":"integer","minimum":1,"maximum":100,"default":20,"description":"How many entries to return at most."},` +
		`"format":{"type":"string","enum":["short","full","raw"],"description":"How much of each entry to return."}},"required":["id"]}`
	all := []string{`{"name":"word",` + texts + `}`, `{"name":"large",` + texts + `}`}
	for i := range n - 2 {
		all = append(all, fmt.Sprintf(`{"name":"get_entry_%d",%s}`, i, texts))
	}
	return all
}

// relay starts a command and copies bytes between it and our standard streams.
func relay(command string, args ...string) {
	cmd := exec.Command(command, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	go func() {
		pump(in, os.Stdin)
		_ = in.Close()
	}()
	pump(os.Stdout, out)
	_ = cmd.Wait()
}

// pump copies through the program's memory: between two pipes io.Copy would let the kernel do it.
func pump(to io.Writer, from io.Reader) {
	_, _ = io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
}

// waysTo returns the ways to a quick server with some tools: directly, by a relay, and wrapped.
func waysTo(root, binary string, tools int) (ways []*client, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	server := []string{self, quickArgument, strconv.Itoa(tools)}
	cache := []string{"XDG_CACHE_HOME=" + filepath.Join(root, strconv.Itoa(tools)), "XDG_STATE_HOME=" + root}
	for _, line := range [][]string{{}, {self, relayArgument}, {binary, "gateway", "--wrap", "--"}} {
		line = append(line, server...)
		c, err := start(root, cache, line[0], line[1:]...)
		if err != nil {
			return nil, err
		}
		ways = append(ways, c)
	}
	return ways, nil
}

var wayNames = []string{"the fastest server, directly", "by a relay that copies bytes", "wrapped"}

// wrapCost compares a wrapped server with the same one asked directly and by a relay: the time of a call, of the first list of many
// tools, and of a large result, and the memory of the process in between.
func wrapCost(w *tabwriter.Writer, binary, root string) error {
	ways, err := waysTo(root, binary, 20)
	if err != nil {
		return err
	}
	for _, c := range ways {
		if _, err := c.firstTool(); err != nil {
			return err
		}
	}
	if err := compare(w, "one call", ways, 40, 500, "word"); err != nil {
		return err
	}
	memory := make([]int, 3)
	for i, c := range ways {
		if memory[i], err = private(c.cmd.Process.Pid); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "memory after 20,000 calls\trelay %d kB\twrap %d kB\t%d kB more (target 4,096)\t\n", memory[1], memory[2], memory[2]-memory[1])
	if err := compare(w, "a result of 50 MB", ways, 6, 1, "large"); err != nil {
		return err
	}
	for _, c := range ways {
		if err := c.close(); err != nil {
			return err
		}
	}
	return longLists(w, binary, root)
}

// compare times calls in alternating blocks, the first of which warms up.
func compare(w *tabwriter.Writer, title string, ways []*client, blocks, perBlock int, tool string) error {
	times := make([][]time.Duration, len(ways))
	for block := range blocks {
		for i, c := range ways {
			for n := range perBlock {
				took, err := c.call(n+1, tool, map[string]any{"id": "x"})
				if err != nil {
					return err
				}
				if block > 0 {
					times[i] = append(times[i], took)
				}
			}
		}
	}
	fmt.Fprintf(w, "%s\tp50\tto direct\tto the relay\t\n", title)
	for i := range ways {
		record("Wrap", title+" "+wayNames[i], times[i])
		p50 := percentile(times[i], .5)
		fmt.Fprintf(w, "%s\t%v\t%s\t%s\t\n", wayNames[i], p50, ratio(p50, percentile(times[0], .5)), ratio(p50, percentile(times[1], .5)))
	}
	return nil
}

// longLists times the first list of servers with ever more tools, when nothing is known of them from an earlier start.
func longLists(w *tabwriter.Writer, binary, root string) error {
	fmt.Fprintln(w, "start and first list\tdirectly\twrapped\t\t")
	for _, tools := range []int{100, 1000, 3000, 10_000} {
		ways, err := waysTo(root, binary, tools)
		if err != nil {
			return err
		}
		var took [3]time.Duration
		for i, c := range ways {
			began := time.Now()
			if _, err := c.firstTool(); err != nil {
				return err
			}
			took[i] = time.Since(began)
			if err := c.close(); err != nil {
				return err
			}
		}
		fmt.Fprintf(w, "%d tools\t%v\t%v\t\t\n", tools, took[0].Round(time.Millisecond), took[2].Round(time.Millisecond))
	}
	return nil
}

// private returns the kilobytes of memory that a process has to itself: what it may write. Its program's text is the system's to share.
func private(pid int) (kb int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps", pid))
	if err != nil {
		return 0, fmt.Errorf("memory is measured on Linux: %w", err)
	}
	writable := false
	for line := range strings.Lines(string(text)) {
		switch fields := strings.Fields(line); {
		case len(fields) > 1 && strings.Contains(fields[0], "-"):
			writable = strings.HasPrefix(fields[1], "rw")
		case writable && (fields[0] == "Private_Dirty:" || fields[0] == "Private_Clean:"):
			n, _ := strconv.Atoi(fields[1])
			kb += n
		}
	}
	return kb, nil
}
