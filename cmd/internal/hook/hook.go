// Package hook implements `mcp-pruner hook`. A client runs it after each of its own tools, and it may
// answer with a shorter result. After any error it prints nothing, and the result stays unchanged.
package hook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook/notes"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/wayback"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/statedir"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Limits of one run.
const (
	maxInput = 64 << 20 // bytes of a client's message

	longest   = 2 * time.Second        // of a run, after which the result stays unchanged
	lateBy    = 120 * time.Millisecond // largest delay of a transcript
	lookAgain = 10 * time.Millisecond
)

// patience is longest; tests raise it for slow machines.
var patience = longest

// finished is a client's message about a finished tool call.
type finished struct {
	session    string
	cwd        string
	transcript string
	agent      string // the sub-agent's id; "": the main thread
	id         string // id of the tool call
	tool       string
	args       map[string]any
	text       string // the text that the model would be sent
	first      int    // number of the text's first line in its file; 0 means 1
	numbered   bool   // the client numbers the lines it shows
	statusless bool   // the text lacks the exit status that the model would be shown; the transcript has it
	bytes      int    // size of the message that carries the text

	// For clients without a readable transcript.
	prompt string
	said   []string // the agent's messages, in order
}

// client adapts the hook protocol of one client.
type client struct {
	name string
	// read parses a message. ok is false if there is nothing to replace.
	read func(message map[string]any) (f finished, ok bool)
	// answer returns the client's JSON that replaces the result, or nil to leave the result unchanged.
	answer func(message map[string]any, f finished, r *existing.Replacement, body existing.Body) ([]byte, error)
	// other answers messages that are not about a finished tool.
	other func(ctx context.Context, message map[string]any, s state) []byte
}

// state is the data that hooks keep between runs.
type state struct {
	dir    string
	ledger string // the ledger's file name
	others history.OtherTools
	lookup func(string) (string, bool)
	now    func() time.Time
}

func newState(lookup func(string) (string, bool)) (state, error) {
	dir, err := statedir.Find(lookup)
	if err != nil {
		return state{}, err
	}
	file, err := ledger.Find("", lookup)
	return state{dir, file, settings.FindOtherTools(lookup), lookup, time.Now}, err
}

// project returns the root of the project of the session that sent a message, by the folder that the message names.
func (s state) project(folder string) string { return archive.ProjectOfHook(folder, s.lookup) }

// Run answers one message. It never fails: it prints a whole answer or nothing.
func Run(ctx context.Context, c client, lookup func(string) (string, bool), in io.Reader, out io.Writer) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }() // no bug in a hook may cost the user a result
		run(ctx, c, lookup, in, out)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func run(ctx context.Context, c client, lookup func(string) (string, bool), in io.Reader, out io.Writer) {
	raw, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil || len(raw) > maxInput {
		return
	}
	message := object(raw)
	s, err := newState(lookup)
	if err != nil {
		return
	}
	f, ok := c.read(message)
	if !ok {
		if c.other != nil {
			if answer := c.other(ctx, message, s); answer != nil {
				_, _ = out.Write(answer) // if the client is gone, nothing can be done
			}
		}
		return
	}
	f.bytes = len(raw)
	s.replace(ctx, c, message, f, out)
}

// replace prunes a result and prints the answer.
func (s state) replace(ctx context.Context, c client, message map[string]any, f finished, out io.Writer) {
	r := existing.Result{Call: history.ParseCall(f.tool, f.args), Args: f.args, Noted: f.numbered}
	r.Body = f.body(r.Call.Kind)
	size := r.Body.Tokens()
	if f.text == "" || size < history.MinTokens {
		return
	}
	prune := s.know(c, &f, size, &r)
	spool := s.spooler(c, f, r.Call)
	if !prune {
		spool.Sent(size)
		return
	}
	_, first := r.Body.Original()
	records := openRecords(s.dir)
	defer records.close()
	m := existing.Machine{
		Client: c.name, Keep: archive.In(s.dir).From(s.project(f.cwd), first), Emit: records.emit,
		Observers: append(records.observers, spool), Back: s.wayBack(c.name),
	}
	replacement, ok, err := m.Prune(ctx, r)
	if replacement == nil {
		return
	}
	if err == nil && !ok { // the client shows the result unchanged: no message but its own carries it
		_ = replacement.Written(ctx, f.bytes, func() error { return nil })
		return
	}
	var answer []byte
	if err == nil {
		answer, err = c.answer(message, f, replacement, r.Body)
	}
	err = replacement.Written(ctx, max(len(answer), 1), func() error {
		if err != nil || answer == nil || ctx.Err() != nil {
			return errStays
		}
		_, err := out.Write(answer)
		return err
	})
	if errors.Is(err, errStays) {
		spool.Sent(size)
	}
	if err == nil {
		notes.Add(s.dir, notes.Note{Time: s.now().UTC().Truncate(time.Millisecond), Client: c.name, Session: f.session, Transcript: f.transcript, Tool: f.tool, Call: f.id, ID: replacement.ID,
			About: about(r.Call), Tokens: tokens.Claude(f.shown(r.Body)), Sent: tokens.Claude(f.sent(replacement, r.Body))})
	}
}

// errStays ends a request whose replacement the client cannot show.
var errStays = errors.New("the client cannot show the replacement: the result stays")

// spooler passes the result to the ledger.
func (s state) spooler(c client, f finished, call history.Call) ledger.Spooler {
	segment := ledger.Result(call, f.text)
	segment.Session, segment.Project = contextgc.SessionID(f.session), contextgc.CleanID(c.name)
	if f.cwd != "" {
		segment.Project = contextgc.ProjectOf(f.cwd)
	}
	return ledger.Spooler{Spool: ledger.SpoolOf(s.ledger), Segment: segment, Text: f.text}
}

// shown returns the text that the client would have shown its model.
func (f finished) shown(body existing.Body) string {
	if !f.numbered {
		return f.text
	}
	var b strings.Builder
	for n := range body.Lines {
		b.WriteString(body.Line(n+1) + "\n")
	}
	return b.String()
}

// sent returns the text that the model is sent in place of the whole result.
func (f finished) sent(r *existing.Replacement, body existing.Body) string {
	if f.numbered {
		return existing.ClaudeRead(body, r.Cut, r.Way)
	}
	return existing.Text(body, r.Cut, r.Way)
}

func (f finished) body(kind history.Kind) existing.Body {
	if !f.numbered {
		return existing.NewBody(kind, f.text)
	}
	return existing.Body{Lines: strings.Split(f.text, "\n"), First: max(f.first, 1), Mark: "\t"}
}

// wayBack returns the command by which a client's agent recovers a text, without the id.
func (s state) wayBack(client string) string { return wayback.Command(client, s.lookup) }

func about(c history.Call) string {
	for _, s := range []string{c.File, c.Pattern, c.Command} {
		if s != "" {
			return strings.ToValidUTF8(s[:min(len(s), 200)], "")
		}
	}
	return ""
}

// clients returns the clients that can be named on the command line.
func clients(replaceErrors bool) []client {
	return []client{claude(), codex(), gemini(replaceErrors), opencode()}
}

func find(name string, replaceErrors bool) (client, bool) {
	all := clients(replaceErrors)
	i := slices.IndexFunc(all, func(c client) bool { return c.name == name })
	if i < 0 {
		return client{}, false
	}
	return all[i], true
}

// object decodes a message. It returns nil if that is not a JSON object.
func object(message []byte) map[string]any {
	var m map[string]any
	if json.Unmarshal(message, &m) != nil {
		return nil
	}
	return m
}

func text(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}

func child(m map[string]any, name string) map[string]any {
	c, _ := m[name].(map[string]any)
	return c
}

func integer(m map[string]any, name string) int {
	n, _ := m[name].(float64)
	return int(n)
}
