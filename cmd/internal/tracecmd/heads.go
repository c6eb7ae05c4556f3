package tracecmd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mcp-pruner/cmd/internal/command"
)

// head is the state of a process' chain, as its event log or `trace heads` tells it.
type head struct {
	Writer string `json:"writer"`
	Seq    uint64 `json:"seq"`
	Link   string `json:"link"`
	Key    string `json:"key"`
	Final  bool   `json:"final"`
}

// heads are those of each process, and whether files of the trace were removed because
// of their age.
type heads struct {
	of      map[string][]head
	removed bool
}

var textHead = regexp.MustCompile(`mcp_pruner\.trace_head writer=([0-9a-f]+) seq=(\d+) link=("?[0-9a-f]*"?) key=(\S+) final=(true|false)`)

// readHeads reads an event log, as JSON or as text, or the output of `trace heads`. All
// other lines are passed over.
func readHeads(in io.Reader) (heads, error) {
	h := heads{of: make(map[string][]head)}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		text := lines.Text()
		if one, ok := headOf(text); ok {
			h.of[one.Writer] = append(h.of[one.Writer], one)
		}
		h.removed = h.removed || strings.Contains(text, "mcp_pruner.trace_removed")
	}
	if err := lines.Err(); err != nil {
		return h, err
	}
	if len(h.of) == 0 {
		return h, fmt.Errorf("there is no head in it: it is neither an event log with mcp_pruner.trace_head nor the output of \"trace heads\"")
	}
	return h, nil
}

func headOf(text string) (head, bool) {
	if m := textHead.FindStringSubmatch(text); m != nil {
		seq, err := strconv.ParseUint(m[2], 10, 64)
		return head{m[1], seq, strings.Trim(m[3], `"`), strings.Trim(m[4], `"`), m[5] == "true"}, err == nil
	}
	var line struct {
		head
		Event string `json:"event"`
		Data  head   `json:"data"`
	}
	at := strings.IndexByte(text, '{') // clients put words of their own before a server's lines
	if at < 0 || json.Unmarshal([]byte(text[at:]), &line) != nil {
		return head{}, false
	}
	if line.Event == "mcp_pruner.trace_head" {
		return line.Data, line.Data.Writer != ""
	}
	return line.head, line.Event == "" && line.Writer != "" && line.Key != ""
}

func headsFrom(file string) (*heads, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, err := readHeads(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &h, nil
}

// checkLine compares a line with the heads of its process.
func (h *heads) checkLine(l *line) string {
	if h == nil {
		return ""
	}
	known, ok := h.of[l.writer]
	if !ok {
		return fmt.Sprintf("process %s is in no head", l.writer)
	}
	for _, one := range known {
		switch {
		case one.Seq == 0 && l.seq == 1 && l.key != one.Key:
			return fmt.Sprintf("process %s started with another key", l.writer)
		case one.Seq == l.seq && l.link != one.Link:
			return fmt.Sprintf("it is not the line number %d that process %s wrote", l.seq, l.writer)
		case one.Final && l.seq > one.Seq:
			return fmt.Sprintf("process %s had ended after its line %d", l.writer, one.Seq)
		}
	}
	if l.recovered != "" {
		return h.checkRecovered(l.recovered)
	}
	return ""
}

// checkRecovered: only a process that was killed leaves answers to others.
func (h *heads) checkRecovered(writer string) string {
	known, ok := h.of[writer]
	if !ok {
		return fmt.Sprintf("it was recovered for process %s, which is in no head", writer)
	}
	if slices.ContainsFunc(known, func(one head) bool { return one.Final }) {
		return fmt.Sprintf("it was recovered for process %s, which ended in order", writer)
	}
	return ""
}

// checkEnd says what the heads know and the trace does not have.
func (h *heads) checkEnd(writers map[string]*writer) (problems []string) {
	if h == nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(h.of)) {
		last := uint64(0)
		for _, one := range h.of[id] {
			last = max(last, one.Seq)
		}
		w := writers[id]
		switch {
		case w == nil && last > 0 && !h.removed:
			problems = append(problems, fmt.Sprintf("process %s wrote at least %s, and none is here", id, counted(int(last), "line")))
		case w == nil:
		case w.seq < last:
			problems = append(problems, fmt.Sprintf("process %s wrote at least %s, and the last here is number %d: the end was cut off",
				id, counted(int(last), "line"), w.seq))
		case !w.whole && !h.removed:
			problems = append(problems, fmt.Sprintf("the first lines of process %s are not here, and no file was removed because of its age", id))
		case w.unsealed > 0:
			problems = append(problems, fmt.Sprintf("at the end of process %s %s without a seal", id, areSome(w.unsealed, "line")))
		}
	}
	return problems
}

// areSome says that there are so many things.
func areSome(n int, thing string) string {
	if n == 1 {
		return "is " + counted(n, thing)
	}
	return "are " + counted(n, thing)
}

func headsCommand(p command.Process) *cobra.Command {
	var s settings
	return verb(p, &s, runHeads, "heads [FILE...]", "Print the state of each process' chain, to be kept elsewhere",
		`Prints a JSON line for each process in the trace: how many lines it wrote, the hash of
the last, and the key of the next seal. Kept where the audited agent cannot write, they
show later that nothing was cut off or put in its place: trace verify --heads. A server
tells its heads in its event log at start, every 1,000 lines and at its end.`)
}

func runHeads(s settings, stdin io.Reader, stdout io.Writer) (int, error) {
	var v *verifier
	err := with(s.files, stdin, func(sources []source) (err error) {
		v, err = verifySources(sources, true, nil)
		return err
	})
	if err != nil {
		return exitBad, err
	}
	e := json.NewEncoder(stdout)
	for _, id := range slices.Sorted(maps.Keys(v.writers)) {
		w := v.writers[id]
		if err := e.Encode(head{Writer: id, Seq: w.seq, Link: w.link, Key: w.key}); err != nil {
			return exitBad, err
		}
	}
	if !v.OK {
		return exitBad, fmt.Errorf("the trace is not in order, \"trace verify\" says why")
	}
	return exitOK, nil
}
