package audit

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// listed is a record in the form that list prints.
type listed struct {
	Start    string `json:"start"`
	Machine  string `json:"machine"`
	ID       string `json:"id"`
	Process  string `json:"process"`
	Run      string `json:"run"`
	Session  string `json:"session"`
	Client   string `json:"client"`
	Tool     string `json:"tool"`
	Outcome  string `json:"outcome"`
	Why      string `json:"why"`
	Micros   int64  `json:"us"`
	Pruning  string `json:"pruning"`
	Reason   string `json:"reason"` // why nothing was pruned
	RawBytes int    `json:"raw_bytes"`
	Sent     int    `json:"sent_bytes"`
	RawTok   int    `json:"raw_tokens"`
	SentTok  int    `json:"sent_tokens"`
	Net      int    `json:"net_saved_tokens"`
	Steps    string `json:"triggers"`
}

var columnNames = []string{"start", "machine", "id", "process", "run", "session", "client", "tool", "outcome", "why", "us", "pruning", "reason",
	"raw_bytes", "sent_bytes", "raw_tokens", "sent_tokens", "net_saved_tokens", "triggers"}

func listedOf(e *Entry, s Saving) listed {
	var triggers []string
	for _, step := range e.Path.Steps {
		triggers = append(triggers, string(step.Trigger))
	}
	pruning, reason := e.Pruned()
	return listed{
		Start: e.Start.Format(time.RFC3339Nano), Machine: e.Machine, ID: e.ID, Process: e.Writer, Run: e.Run, Session: e.Session, Client: e.Client, Tool: e.Tool,
		Outcome: e.Outcome, Why: e.Why, Micros: e.Took().Microseconds(), Pruning: pruning, Reason: reason, RawBytes: e.Bytes.Raw, Sent: e.Bytes.Sent,
		RawTok: e.Tokens.Raw, SentTok: e.Tokens.Sent, Net: s.Net(), Steps: strings.Join(triggers, " "),
	}
}

func (i listed) fields() []string {
	n := strconv.Itoa
	return []string{i.Start, cell(i.Machine), cell(i.ID), i.Process, cell(i.Run), cell(i.Session), cell(i.Client), cell(i.Tool),
		i.Outcome, i.Why, strconv.FormatInt(i.Micros, 10), i.Pruning, i.Reason,
		n(i.RawBytes), n(i.Sent), n(i.RawTok), n(i.SentTok), n(i.Net), i.Steps}
}

// text formats a record for a terminal.
func (i listed) text() string {
	return fmt.Sprintf("%s  %s  %-10s %-16s %8s  %s -> %s tokens  %s", i.Start, printable(i.ID), toolName(i.Tool), printable(strings.TrimSuffix(i.Outcome+" "+i.Why, " ")),
		span(i.Micros), terminal.Grouped(i.RawTok), terminal.Grouped(i.SentTok), printable(strings.TrimSuffix(i.Pruning+" "+i.Reason, " ")))
}

// ListFormat is the form of a list.
type ListFormat int

// The formats of a list. JSON is one array with a record a line, so that a trace of any size passes through.
const (
	ListText ListFormat = iota
	ListCSV
	ListJSON
)

// WriteList writes the selected records, one a line.
func WriteList(to io.Writer, t *Trace, s Selection, format ListFormat) error {
	out := bufio.NewWriterSize(to, 64<<10)
	write, end, err := lister(out, format)
	if err != nil {
		return err
	}
	if _, err = t.Records(s, func(e *Entry, saving Saving) error { return write(listedOf(e, saving)) }); err != nil {
		return err
	}
	end()
	return out.Flush()
}

// lister returns a function that writes records, and one that writes what follows the last record.
func lister(out *bufio.Writer, format ListFormat) (write func(listed) error, end func(), err error) {
	switch format {
	case ListJSON:
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		before := "["
		write = func(i listed) error {
			_, _ = out.WriteString(before) // Encode and Flush report the error
			before = ","
			return e.Encode(i)
		}
		return write, func() { _, _ = out.WriteString(strings.TrimPrefix(before, ",") + "]\n") }, nil
	case ListCSV:
		w := csv.NewWriter(out)
		write := func(fields []string) error {
			_ = w.Write(fields) // Flush and Error report the error
			w.Flush()
			return w.Error()
		}
		return func(i listed) error { return write(i.fields()) }, func() {}, write(columnNames)
	}
	return func(i listed) error {
		_, err := fmt.Fprintln(out, i.text())
		return err
	}, func() {}, nil
}

// cell returns a name in a form that no spreadsheet interprets as a formula, because clients choose names.
func cell(name string) string {
	if name != "" && strings.ContainsRune("=+-@\t\r", rune(name[0])) {
		return "'" + name
	}
	return name
}
