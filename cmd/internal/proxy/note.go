package proxy

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// note records one request for "mcp-pruner context CLIENT --from FILE": the first with which a client began a conversation. Only the
// body is kept, as the client sent it.
type note struct {
	path string // "": nothing is recorded
	done atomic.Bool
	emit func(fsm.Event)
}

// newFile returns an error if something has the path already, be it only a link that leads nowhere.
func newFile(path string) error {
	switch _, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return command.Usagef("--note: %w", err)
	}
	return command.Usagef("--note: %s exists already; name a new file", path)
}

// waits reports whether the request is still to come.
func (n *note) waits() bool { return n.path != "" && !n.done.Load() }

// take writes the request into the file if it is the one.
func (n *note) take(r *http.Request, a *wire.API, body []byte) {
	if a.Counts || !begins(a, body, agent.Calling(r.UserAgent())) || !n.done.CompareAndSwap(false, true) {
		return
	}
	if err := (prefix.Request{API: a.Name, Body: body}).Save(n.path); err != nil {
		n.emit(fsm.NewEvent("mcp_pruner.warning", "", fsm.Facts{"message": fmt.Sprintf("the request for --note is not recorded: %v", err)}))
		return
	}
	n.emit(fsm.NewEvent("proxy.noted", "", fsm.Facts{"api": a.Name, "file": n.path}))
}

// begins reports whether a request asks for the first turn of a conversation. Helper requests, for a title or as a probe, have none
// of the client's own tools.
func begins(a *wire.API, body []byte, c *agent.Client) bool {
	request := prefix.Request{API: a.Name, Body: body}
	if c.Prefix == nil && len(request.Tools()) == 0 || c.Prefix != nil && !request.HasTool(c.Prefix.Turn) {
		return false
	}
	conversation, err := a.Parse(body)
	if err != nil {
		return false
	}
	for _, turn := range conversation.Turns {
		if turn.Answer > 0 || len(turn.Uses) > 0 || len(turn.Results) > 0 {
			return false
		}
	}
	return true
}
