package sessions

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/sqlfile"
)

// opencode keeps its sessions in a database, versions before 1.2 in a JSON file for each session, message and part. The members
// are the same.

type opencodeSession struct {
	ID        string `json:"id"`
	Directory string `json:"directory"`
	Version   string `json:"version"`
	Time      struct {
		Created int64 `json:"created"` // milliseconds
	} `json:"time"`
}

type opencodeMessage struct {
	Role    string `json:"role"`
	ModelID string `json:"modelID"`
	Summary any    `json:"summary"` // true: the answer is the summary of a compaction
	Time    struct {
		Created int64 `json:"created"` // milliseconds
	} `json:"time"`
}

type opencodePart struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"` // written by the client
	Ignored   bool   `json:"ignored"`   // the model does not see it
	Tool      string `json:"tool"`
	CallID    string `json:"callID"`
	State     struct {
		Status string         `json:"status"`
		Input  map[string]any `json:"input"`
		Output string         `json:"output"`
		Error  string         `json:"error"`
		Time   struct {
			Compacted int64 `json:"compacted"` // milliseconds; from then on a line stands in the output's place
		} `json:"time"`
	} `json:"state"`
	Tokens *struct {
		Input     int `json:"input"` // without those of the cache
		Output    int `json:"output"`
		Reasoning int `json:"reasoning"`
		Cache     struct {
			Read  int `json:"read"`
			Write int `json:"write"`
		} `json:"cache"`
	} `json:"tokens"`
}

// opencodeReader converts messages and their parts, in order, into steps.
type opencodeReader struct {
	session Session
	call    int // index of the model call that is open, plus one; 0: none
	results []Step
	drops   []opencodeDrop
	bad     error // the first record that cannot be read
}

// opencodeDrop is a result that opencode takes out of the prompt at a time.
type opencodeDrop struct {
	id string
	at int64
}

func newOpencodeReader(s opencodeSession) *opencodeReader {
	r := &opencodeReader{session: Session{ID: s.ID, Source: agent.Opencode.Name, Project: s.Directory, Version: s.Version}}
	if s.Time.Created > 0 {
		r.session.Begun = time.UnixMilli(s.Time.Created).UTC()
	}
	return r
}

// message adds a message. A record that cannot be read loses itself only.
func (r *opencodeReader) message(id string, data []byte, parts [][]byte) {
	var m opencodeMessage
	if err := json.Unmarshal(data, &m); err != nil {
		r.skip(id, err)
		return
	}
	r.drop(m.Time.Created)
	for _, part := range parts {
		var p opencodePart
		if err := json.Unmarshal(part, &p); err != nil {
			r.skip(id, err)
			continue
		}
		if m.Role == "user" {
			r.asked(p)
		} else {
			r.answered(p, m)
		}
	}
	r.finish()
	if summary, _ := m.Summary.(bool); summary && m.Role == "assistant" {
		r.add(Step{Kind: Compact})
	}
}

// drop adds the results that are no longer in the prompts of a message that begins at a time.
func (r *opencodeReader) drop(at int64) {
	r.drops = slices.DeleteFunc(r.drops, func(d opencodeDrop) bool {
		gone := d.at <= at
		if gone {
			r.add(Step{Kind: Drop, ID: d.id})
		}
		return gone
	})
}

// OfMessages returns the session in the messages that opencode's plugin passes on. What cannot be read is left out.
func OfMessages(messages any) Session {
	var list []struct {
		Info  json.RawMessage
		Parts []json.RawMessage
	}
	r := newOpencodeReader(opencodeSession{})
	if data, err := json.Marshal(messages); err != nil || json.Unmarshal(data, &list) != nil {
		return r.session
	}
	for _, m := range list {
		parts := make([][]byte, len(m.Parts))
		for i, part := range m.Parts {
			parts[i] = part
		}
		r.message("", m.Info, parts)
	}
	return r.session
}

func (r *opencodeReader) skip(id string, err error) {
	if r.bad == nil {
		r.bad = fmt.Errorf("session %s, message %s: %w", r.session.ID, id, err)
	}
}

func (r *opencodeReader) add(s Step) { r.session.Steps = append(r.session.Steps, s) }

func (r *opencodeReader) asked(p opencodePart) {
	switch {
	case p.Type != "text" || p.Ignored || p.Text == "":
	case p.Synthetic:
		r.add(Step{Kind: Attach, Type: "synthetic", Text: p.Text})
	default:
		r.add(Step{Kind: User, Text: p.Text})
	}
}

func (r *opencodeReader) answered(p opencodePart, m opencodeMessage) {
	if p.Type == "step-start" || r.call == 0 && p.Type != "step-finish" {
		r.finish()
		r.add(Step{Kind: Call, Model: m.ModelID, At: r.since(m)})
		r.call = len(r.session.Steps)
	}
	switch p.Type {
	case "text":
		r.add(Step{Kind: Say, Text: p.Text})
	case "reasoning":
		r.add(Step{Kind: Say, Think: p.Text})
	case "tool":
		r.used(p)
	case "step-finish":
		if t := p.Tokens; t != nil && r.call > 0 {
			r.session.Steps[r.call-1].Usage = &Usage{Input: t.Input, CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write, Output: t.Output + t.Reasoning}
		}
		r.finish()
	}
}

func (r *opencodeReader) since(m opencodeMessage) time.Duration {
	if m.Time.Created == 0 || r.session.Begun.IsZero() {
		return 0
	}
	return max(time.UnixMilli(m.Time.Created).Sub(r.session.Begun), 0)
}

func (r *opencodeReader) used(p opencodePart) {
	r.add(Step{Kind: Use, ID: p.CallID, Tool: p.Tool, Args: p.State.Input})
	result := Step{Kind: Result, ID: p.CallID, Tool: p.Tool, Args: p.State.Input, Out: p.State.Output, Err: p.State.Status == "error"}
	if result.Err {
		result.Out = cmp.Or(result.Out, p.State.Error)
	}
	r.results = append(r.results, result)
	if at := p.State.Time.Compacted; at > 0 {
		r.drops = append(r.drops, opencodeDrop{p.CallID, at})
	}
}

// finish ends a model call: the results of its calls follow.
func (r *opencodeReader) finish() {
	r.session.Steps = append(r.session.Steps, r.results...)
	r.call, r.results = 0, nil
}

const sqliteMagic = "SQLite format 3\x00"

// opencodeDatabase reports whether a file is a database by its first bytes.
func opencodeDatabase(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(sqliteMagic))
	n, _ := f.Read(head)
	return string(head[:n]) == sqliteMagic
}

// databasePatience is the longest wait for an opencode that writes.
const databasePatience = 5 * time.Second

// readOpencodeDatabase yields the sessions of a database, oldest first.
func readOpencodeDatabase(ctx context.Context, path string, yield func(Session) error) error {
	var bad []error
	err := sqlfile.Read(path, databasePatience, func(db *sql.DB) error {
		heads, err := query(ctx, db, "SELECT id, json_object('directory', directory, 'version', version, 'time', json_object('created', time_created)) FROM session ORDER BY time_created, id")
		if err != nil {
			return fmt.Errorf("not a database of opencode's sessions: %w", err)
		}
		for _, head := range heads {
			s := opencodeSession{}
			if err := json.Unmarshal(head.data, &s); err != nil {
				bad = append(bad, err)
				continue
			}
			s.ID = head.id
			r := newOpencodeReader(s)
			if err := r.messages(ctx, db); err != nil {
				return err
			}
			if r.bad != nil {
				bad = append(bad, r.bad)
			}
			if err := yield(r.session); err != nil {
				return err
			}
		}
		return nil
	})
	if err = errors.Join(append([]error{err}, bad...)...); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (r *opencodeReader) messages(ctx context.Context, db *sql.DB) error {
	messages, err := query(ctx, db, "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", r.session.ID)
	if err != nil {
		return err
	}
	parts, err := query(ctx, db, "SELECT message_id, data FROM part WHERE session_id = ? ORDER BY id", r.session.ID)
	if err != nil {
		return err
	}
	of := map[string][][]byte{}
	for _, p := range parts {
		of[p.id] = append(of[p.id], p.data)
	}
	for _, m := range messages {
		r.message(m.id, m.data, of[m.id])
	}
	return nil
}

type record struct {
	id   string
	data []byte
}

func query(ctx context.Context, db *sql.DB, text string, args ...any) ([]record, error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []record
	for rows.Next() {
		var r record
		if err := rows.Scan(&r.id, &r.data); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

// opencodeFile reports whether a path is that of a session as older versions keep it: storage/session/PROJECT/ses_ID.json.
func opencodeFile(path string) bool {
	base := filepath.Base(path)
	return strings.HasPrefix(base, "ses_") && strings.HasSuffix(base, ".json") && filepath.Base(filepath.Dir(filepath.Dir(path))) == "session"
}

// readOpencodeFile yields a session whose messages and parts are in files of their own: storage/message/SESSION/ID.json and
// storage/part/MESSAGE/ID.json.
func readOpencodeFile(path string, yield func(Session) error) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var s opencodeSession
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	s.ID = cmp.Or(s.ID, strings.TrimSuffix(filepath.Base(path), ".json"))
	storage := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	r := newOpencodeReader(s)
	for _, m := range r.records(filepath.Join(storage, "message", s.ID)) {
		var parts [][]byte
		for _, p := range r.records(filepath.Join(storage, "part", m.id)) {
			parts = append(parts, p.data)
		}
		r.message(m.id, m.data, parts)
	}
	if r.bad != nil {
		r.bad = fmt.Errorf("%s: %w", path, r.bad)
	}
	return errors.Join(yield(r.session), r.bad)
}

// records reads the files of a folder in the order of their names, which is that of time.
func (r *opencodeReader) records(folder string) []record {
	names, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		r.skip(folder, err)
	}
	slices.Sort(names)
	var list []record
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			r.skip(name, err)
			continue
		}
		list = append(list, record{strings.TrimSuffix(filepath.Base(name), ".json"), data})
	}
	return list
}
