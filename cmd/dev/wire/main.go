// Command wire compares two builds of the program byte by byte: both get the same calls, hook events, requests and tool
// calls through the gateway, in folders with the same path, and their answers must be equal but for what mask.go lists.
//
//	go run ./wire -data ../../testdata -before PATH -after PATH
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/calls"
)

func main() {
	before := flag.String("before", "", "the program as it was")
	after := flag.String("after", "", "the program as it is")
	var size sizes
	flag.IntVar(&size.calls, "calls", 1000, "calls over stdio for each client")
	flag.IntVar(&size.events, "events", 100, "hook events for each client that has hooks")
	flag.IntVar(&size.requests, "requests", 60, "requests through the proxy, of all clients")
	flag.IntVar(&size.tools, "tools", 60, "calls through the gateway, of all clients")
	only := flag.String("only", "", "a client's name: the others are left out")
	keep := flag.String("o", "", "a folder for all exchanges, as text")
	data := flag.String("data", "testdata", "the folder of recorded results and calls")
	state := flag.String("state", "", "write the folder testdata/upgrade with the program before, and compare nothing")
	within := flag.String("inside", "", "internal")
	flag.Parse()
	if *within != "" {
		end(inside(*within))
	}
	if *state != "" && *before != "" {
		end(keepState(*before, *state))
	}
	if *before == "" || *after == "" || flag.NArg() != 0 {
		fmt.Fprintln(os.Stderr, "usage: wire -before PATH -after PATH [-calls 1000] [-events 100] [-requests 60] [-tools 60] [-only CLIENT] [-o FOLDER] [-data FOLDER]")
		os.Exit(2)
	}
	equal, err := compare(os.Stdout, *before, *after, choice{data: *data, only: *only, keep: *keep, sizes: size})
	if err != nil {
		fmt.Fprintln(os.Stderr, "wire:", err)
	}
	if err != nil || !equal {
		os.Exit(1)
	}
}

// end ends the program.
func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "wire:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// sizes says how much is played.
type sizes struct{ calls, events, requests, tools int }

// choice says what is played.
type choice struct {
	sizes
	data string // the folder testdata
	only string // a client; "": all
	keep string // a folder for the exchanges; "": none
}

// compare plays everything against both programs and prints a line for each client and door. It reports whether all
// answers were equal.
func compare(out io.Writer, before, after string, o choice) (bool, error) {
	events, err := readEvents(filepath.Join(o.data, "results"))
	if err != nil {
		return false, err
	}
	cases, err := calls.Read(filepath.Join(o.data, "calls", "calls.jsonl"))
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "wire")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	s := stand{dir: filepath.Join(dir, "stand"), size: o.sizes, events: events, cases: cases}
	defer s.open()()
	equal := true
	_, _ = fmt.Fprintf(out, "%-24s %-8s %7s %9s %7s\n", "client", "door", "answers", "identical", "varying")
	for _, c := range clients {
		if o.only != "" && o.only != c.name {
			continue
		}
		for _, d := range doors {
			same, err := s.compare(out, d, c, [2]string{before, after}, o.keep)
			if err != nil {
				return false, fmt.Errorf("%s, %s: %w", c.name, d.name, err)
			}
			equal = equal && same
		}
	}
	return equal, nil
}

// exchange is one message to a program and everything that the program answered, masked.
type exchange struct{ sent, got string }

// rounds is the number of times that both programs play while answers differ. Some answers of one program differ from
// run to run: the tokens of a random id count towards what Codex shows of a result. Such an answer is identical if both
// programs gave it, in whichever round.
const rounds = 6

// compare plays one client's part at one door and prints a line about it.
func (s *stand) compare(out io.Writer, d door, c client, programs [2]string, keep string) (equal bool, err error) {
	var given [2][]map[exchange]bool // by place in the conversation
	var first [2][]exchange
	var differ []int
	for round := range rounds {
		for i, program := range programs {
			played, err := s.through(d, c, program)
			if err != nil {
				return false, fmt.Errorf("%s: %w", program, err)
			}
			if round == 0 {
				first[i] = played
			}
			given[i] = collect(given[i], played)
		}
		differ = differences(given)
		if round == 0 {
			if err := write(keep, c.name+"-"+d.name, first); err != nil {
				return false, err
			}
		}
		if len(differ) == 0 {
			break
		}
	}
	report(out, c.name, d.name, first, differ, given)
	return len(differ) == 0, nil
}

// collect adds the exchanges of a round.
func collect(given []map[exchange]bool, played []exchange) []map[exchange]bool {
	for i, x := range played {
		if i == len(given) {
			given = append(given, map[exchange]bool{})
		}
		given[i][x] = true
	}
	return given
}

// differences returns the places at which the programs have no exchange in common.
func differences(given [2][]map[exchange]bool) (places []int) {
	for i := range max(len(given[0]), len(given[1])) {
		if i >= len(given[0]) || i >= len(given[1]) || !common(given[0][i], given[1][i]) {
			places = append(places, i)
		}
	}
	return places
}

func common(a, b map[exchange]bool) bool {
	for x := range a {
		if b[x] {
			return true
		}
	}
	return false
}

// report prints how many answers are identical, how many of them only after other rounds, and the first that is not.
func report(out io.Writer, client, door string, first [2][]exchange, differ []int, given [2][]map[exchange]bool) {
	n, varying := max(len(given[0]), len(given[1])), 0
	if n == 0 {
		return
	}
	for i := range min(len(first[0]), len(first[1])) {
		if first[0][i] != first[1][i] && !slices.Contains(differ, i) {
			varying++
		}
	}
	_, _ = fmt.Fprintf(out, "%-24s %-8s %7d %9d %7d\n", client, door, n, n-len(differ), varying)
	if len(differ) == 0 {
		return
	}
	i := differ[0]
	if i >= len(first[0]) || i >= len(first[1]) {
		_, _ = fmt.Fprintf(out, "  %d answers before, %d after\n", len(first[0]), len(first[1]))
		return
	}
	before, after := first[0][i], first[1][i]
	at := difference(before.got, after.got)
	_, _ = fmt.Fprintf(out, "  first difference: exchange %d, byte %d\n  sent   %.600s\n  before %s\n  after  %s\n",
		i+1, at, before.sent, around(before.got, at), around(after.got, at))
}

// write writes exchanges before and after into files of a folder; "": nowhere.
func write(folder, name string, got [2][]exchange) error {
	if folder == "" {
		return nil
	}
	for i, when := range []string{"before", "after"} {
		var b strings.Builder
		for _, x := range got[i] {
			b.WriteString("> " + x.sent + "\n" + x.got + "\n")
		}
		if err := os.WriteFile(filepath.Join(folder, name+"."+when), []byte(b.String()), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// difference returns the index of the first byte in which two texts differ.
func difference(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// around returns the part of a text about an index.
func around(text string, at int) string {
	return fmt.Sprintf("%q", text[max(0, at-120):min(len(text), at+200)])
}
