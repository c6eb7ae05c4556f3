package gateway

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// Relay wraps a server whose results pass untouched. It shortens the texts in the lists of tools, answers the calls that ask for a
// tool's full text, and puts slips in arguments right. Everything else passes byte for byte. It returns the server's exit code.
func Relay(ctx context.Context, server connect.Config, env []string, target float64, in io.Reader, out, stderr io.Writer) (code int, err error) {
	return connect.Relay(ctx, server, env, in, out, stderr, &wrap{
		options: upstream.Options{Bare: true, Exact: true, Target: target, Tokens: tokens.Estimate},
		lists:   map[string]bool{}, tools: map[string]upstream.Exposed{},
	})
}

// listPercent lets the garbage collector run seldom while a list is read.
const listPercent = 400

// wrap is the connect.Editor of a wrapped server. What it cannot read passes as it is.
type wrap struct {
	options upstream.Options
	waits   atomic.Bool // lists is not empty

	mu    sync.Mutex
	lists map[string]bool             // ids of the requests for a list
	tools map[string]upstream.Exposed // as they were listed
}

// Waits implements connect.Editor.
func (w *wrap) Waits() bool { return w.waits.Load() }

// FromClient implements connect.Editor.
func (w *wrap) FromClient(line []byte) (toServer, toClient []byte) {
	if !bytes.Contains(line, []byte("tools")) {
		return line, nil
	}
	d, all, err := jsonspan.Parse(bytes.TrimSpace(line))
	if err != nil {
		return line, nil
	}
	m, err := d.Members(all, "id", "method", "params")
	if err != nil || m[0].To == 0 {
		return line, nil
	}
	switch m[1].Text(d.Body) {
	case "tools/list":
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lists[string(m[0].Of(d.Body))] = true
		w.waits.Store(true)
	case "tools/call":
		parts, err := d.Members(m[2], "name", "arguments")
		if err != nil {
			return line, nil
		}
		w.mu.Lock()
		e, known := w.tools[parts[0].Text(d.Body)]
		w.mu.Unlock()
		if !known || parts[1].To == 0 {
			return line, nil
		}
		unsettled := false
		_ = d.Fields(parts[1], func(name []byte, v jsonspan.Span) error { // no object: the server says so
			unsettled = unsettled || e.MayChange(jsonspan.Unquote(name), d.Body[v.From])
			return nil
		})
		if !unsettled {
			return line, nil
		}
		help, changed := translated(&e, parts[1].Of(d.Body))
		switch {
		case help != "":
			return nil, jsonLine(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(m[0].Of(d.Body)),
				"result": map[string]any{"content": []any{map[string]string{"type": "text", "text": help}}}})
		case changed != nil:
			return append(jsonspan.Splice(d.Body, []jsonspan.Edit{{From: parts[1].From, To: parts[1].To, Text: changed}}), '\n'), nil
		}
	}
	return line, nil
}

func jsonLine(m any) []byte { return append(encoded(m), '\n') }

// translated returns the full text of a tool if its arguments ask for it, or the arguments for its server; nil: as they are.
// Arguments that do not change keep their spelling.
func translated(e *upstream.Exposed, raw []byte) (help string, changed []byte) {
	given, _ := decoded(raw).(map[string]any)
	if given == nil {
		return "", nil
	}
	call, help, _ := e.Translate(given)
	if call == nil || reflect.DeepEqual(call.Arguments, given) {
		return help, nil
	}
	members, _ := jsonspan.Members(raw)
	args := maps.Clone(call.Arguments)
	for name, to := range call.Passed {
		if value, there := args[to]; there && reflect.DeepEqual(value, given[name]) {
			args[to] = members[name]
		}
	}
	return "", encoded(args)
}

// FromServer implements connect.Editor.
func (w *wrap) FromServer(line []byte) []byte {
	d, all, err := jsonspan.Parse(bytes.TrimSpace(line))
	if err != nil {
		return line
	}
	m, err := d.Members(all, "id", "method", "result")
	if err != nil || m[0].To == 0 || m[1].To > 0 {
		return line
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id := string(m[0].Of(d.Body))
	if !w.lists[id] {
		return line
	}
	delete(w.lists, id)
	w.waits.Store(len(w.lists) > 0)
	edits := w.shortened(&d, m[2])
	if len(edits) == 0 {
		return line
	}
	return append(jsonspan.Splice(d.Body, edits), '\n')
}

// shortened returns the edits that shorten the tools in a result, and remembers the tools. w.mu is locked.
func (w *wrap) shortened(d *jsonspan.Document, result jsonspan.Span) (edits []jsonspan.Edit) {
	if result.To == 0 {
		return nil
	}
	defer debug.FreeOSMemory() // a long list needs much for a moment
	defer debug.SetGCPercent(debug.SetGCPercent(listPercent))
	list, _, err := upstream.ParseList("", result.Of(d.Body))
	if err != nil {
		return nil
	}
	here := map[string]upstream.Exposed{}
	for _, e := range upstream.Expose(upstream.Server{Tools: list}, upstream.Trimmed, w.options) {
		here[e.Name] = e
	}
	maps.Copy(w.tools, here)
	tools, _ := d.Members(result, "tools")
	_ = d.Items(tools[0], func(tool jsonspan.Span) error {
		m, err := d.Members(tool, "name", "description", "inputSchema")
		if err != nil {
			return nil // no object
		}
		e, known := here[m[0].Text(d.Body)]
		for i, text := range []json.RawMessage{encoded(e.Description), e.InputSchema} {
			if at := m[i+1]; known && at.To > 0 && len(text) < at.To-at.From {
				edits = append(edits, jsonspan.Edit{From: at.From, To: at.To, Text: text})
			}
		}
		return nil
	})
	slices.SortFunc(edits, func(a, b jsonspan.Edit) int { return cmp.Compare(a.From, b.From) })
	return edits
}
