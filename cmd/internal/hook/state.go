package hook

import (
	"errors"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

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
	dir, err := files.StateDir(lookup)
	if err != nil {
		return state{}, err
	}
	file, err := ledger.Find("", lookup)
	return state{dir: dir, ledger: file, others: settings.FindOtherTools(lookup), lookup: lookup, now: time.Now}, err
}

// project returns the root of the project of the session that sent a message, by the folder that the message names.
func (s state) project(folder string) string { return recovery.ProjectOfHook(folder, s.lookup) }

// wayBack returns the command by which a client's agent recovers a text, without the id.
func (s state) wayBack(client string) string { return BackCommand(client, s.lookup) }

// Tools selects the tools whose results hooks may replace.
type Tools struct {
	Only   history.OtherTools // none: all
	Except history.OtherTools
}

func (t Tools) includes(tool string) bool {
	return (len(t.Only) == 0 || t.Only.Includes(tool)) && !t.Except.Includes(tool)
}

// errStays ends a request whose replacement the client cannot show.
var errStays = errors.New("the client cannot show the replacement: the result stays")
