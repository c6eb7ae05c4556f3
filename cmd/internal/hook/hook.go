// Package hook implements `mcp-pruner hook`. A client runs it after each of its own tools, and it may
// answer with a shorter result. After any error it prints nothing, and the result stays unchanged.
package hook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook/notes"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/wayback"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
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
	agent.Call
	bytes   int    // size of the message that carries the text
	preview string // what the client would show of a text of which it shows only a part
}

// state is the data that hooks keep between runs.
type state struct {
	dir    string
	ledger string // the ledger's file name
	others history.OtherTools
	tools  Tools
	lookup func(string) (string, bool)
	now    func() time.Time
}

func newState(lookup func(string) (string, bool)) (state, error) {
	dir, err := statedir.Find(lookup)
	if err != nil {
		return state{}, err
	}
	file, err := ledger.Find("", lookup)
	return state{dir: dir, ledger: file, others: settings.FindOtherTools(lookup), lookup: lookup, now: time.Now}, err
}

// project returns the root of the project of the session that sent a message, by the folder that the message names.
func (s state) project(folder string) string { return archive.ProjectOfHook(folder, s.lookup) }

// Run answers one message. It never fails: it prints a whole answer or nothing.
func Run(ctx context.Context, c *agent.Client, only Tools, lookup func(string) (string, bool), in io.Reader, out io.Writer) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }() // no bug in a hook may cost the user a result
		run(ctx, c, only, lookup, in, out)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func run(ctx context.Context, c *agent.Client, only Tools, lookup func(string) (string, bool), in io.Reader, out io.Writer) {
	raw, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil || len(raw) > maxInput {
		return
	}
	s, err := newState(lookup)
	if err != nil {
		return
	}
	s.tools = only
	message := object(raw)
	call, occasion := c.Hooks.Read(message, kindOf)
	if s.stays(call, occasion) {
		return
	}
	if occasion == agent.ToolEnded {
		if call.Exit != nil {
			call.Text = existing.WithStatus(*call.Exit, call.Text)
		}
		s.replace(ctx, c, message, finished{Call: call, bytes: len(raw)}, out)
		return
	}
	if answer := s.other(ctx, c, call, occasion); answer != nil {
		_, _ = out.Write(answer) // if the client is gone, nothing can be done
	}
}

// kindOf returns the kind of a tool.
func kindOf(tool string) string { return string(history.KindOf(tool)) }

// other answers messages that are not about a finished tool.
func (s state) other(ctx context.Context, c *agent.Client, call agent.Call, occasion agent.Occasion) []byte {
	switch occasion {
	case agent.Compacting:
		s.mark(ctx, call)
	case agent.Compacted:
		s.prelude(c)
		return s.remind(ctx, c, call)
	case agent.Started:
		s.prelude(c)
	case agent.ToolFailed:
		return s.add(ctx, c, finished{Call: call})
	case agent.NextRequest:
		return s.clear(ctx, call)
	}
	return nil
}

// replace prunes a result and prints the answer.
func (s state) replace(ctx context.Context, c *agent.Client, message agent.Message, f finished, out io.Writer) {
	r := existing.Result{Call: history.ParseCall(f.Tool, f.Args), Args: f.Args, Noted: f.Numbered}
	if f.Spill != "" && !f.whole(&r) {
		return
	}
	r.Body = f.body(r.Call.Kind)
	size := r.Body.Tokens()
	if f.Text == "" || size < history.MinTokens {
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
		Client: c.Name, Keep: archive.In(s.dir).From(s.project(f.Folder), first), Emit: records.emit,
		Observers: append(records.observers, spool), Back: s.wayBack(c.Name),
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
		answer, err = answerOf(c, message, r.Call.Kind, replacement, r.Body)
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
		s.note(c, f, r.Call, replacement.ID, tokens.Claude(f.shown(r.Body)), tokens.Claude(f.sent(replacement, r.Body)))
	}
}

// stays reports whether hooks are turned off for a session, its project, a tool or a call.
func (s state) stays(call agent.Call, occasion agent.Occasion) bool {
	if s.off(call.Session) || offIn(s.project(call.Folder)) {
		return true
	}
	return (occasion == agent.ToolEnded || occasion == agent.ToolFailed) && (!s.tools.includes(call.Tool) || wantsWhole(call.Args))
}

// note keeps what was replaced: shown tokens by sent ones.
func (s state) note(c *agent.Client, f finished, call history.ToolCall, id string, shown, sent int) {
	notes.Add(s.dir, notes.Note{Time: s.now().UTC().Truncate(time.Millisecond), Client: c.Name, Session: f.Session,
		Transcript: f.Transcript, Tool: f.Tool, Call: f.ID, ID: id, About: about(call), Tokens: shown, Sent: sent})
}

// errStays ends a request whose replacement the client cannot show.
var errStays = errors.New("the client cannot show the replacement: the result stays")

// spooler passes the result to the ledger.
func (s state) spooler(c *agent.Client, f finished, call history.ToolCall) ledger.Spooler {
	segment := ledger.Result(call, f.Text)
	segment.Session, segment.Project = contextgc.SessionID(f.Session), contextgc.CleanID(c.Name)
	if f.Folder != "" {
		segment.Project = contextgc.ProjectOf(f.Folder)
	}
	return ledger.Spooler{Spool: ledger.SpoolOf(s.ledger), Segment: segment, Text: f.Text}
}

// shown returns the text that the client would have shown its model.
func (f finished) shown(body existing.Body) string {
	switch {
	case f.preview != "":
		return f.preview
	case !f.Numbered:
		return f.Text
	}
	var b strings.Builder
	for n := range body.Lines {
		b.WriteString(body.Line(n+1) + "\n")
	}
	return b.String()
}

// sent returns the text that the model is sent in place of the whole result.
func (f finished) sent(r *existing.Replacement, body existing.Body) string {
	if f.Numbered {
		return existing.ClaudeRead(body, r.Cut, r.Way)
	}
	return existing.Text(body, r.Cut, r.Way)
}

func (f finished) body(kind history.Kind) existing.Body {
	if !f.Numbered {
		return existing.NewBody(kind, f.Text)
	}
	return existing.Body{Lines: strings.Split(f.Text, "\n"), First: max(f.First, 1), Mark: "\t"}
}

// wayBack returns the command by which a client's agent recovers a text, without the id.
func (s state) wayBack(client string) string { return wayback.Command(client, s.lookup) }

func about(c history.ToolCall) string {
	for _, s := range []string{c.File, c.Pattern, c.Command} {
		if s != "" {
			return strings.ToValidUTF8(s[:min(len(s), 200)], "")
		}
	}
	return ""
}

// answerOf returns the client's JSON that replaces a result, or nil to leave the result unchanged.
func answerOf(c *agent.Client, message agent.Message, kind history.Kind, r *existing.Replacement, body existing.Body) ([]byte, error) {
	replacement := agent.Replacement{Text: existing.Text(body, r.Cut, r.Way), Part: func() (agent.Part, bool) {
		main, note := existing.Split(body, r.Cut, r.Way)
		if main.From == 0 || !existing.NoteFits(note) {
			return agent.Part{}, false
		}
		text := strings.Join(body.Lines[main.From-1:main.To], "\n")
		return agent.Part{Text: text, First: body.First + main.From - 1, Count: main.To - main.From + 1, Note: note}, true
	}}
	if most := c.Hooks.Longest; most > 0 && len(replacement.Text) > most {
		return nil, nil
	}
	answer := c.Hooks.Answer(message, string(kind), replacement)
	if answer == nil {
		return nil, nil
	}
	return json.Marshal(answer)
}

// object decodes a message. It returns nil if that is not a JSON object.
func object(message []byte) agent.Message {
	var m agent.Message
	if json.Unmarshal(message, &m) != nil {
		return nil
	}
	return m
}
