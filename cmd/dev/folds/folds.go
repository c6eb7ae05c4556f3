// Package folds divides the fixtures' sessions into folds by repository, so that no session is measured with weights that
// were learned from its repository. The half of the fixtures that is kept back is of other repositories, too.
package folds

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
)

// Count is the number of folds.
const Count = 4

// large are the repositories with the most sessions. The other repositories are in the last fold.
var large = map[string]int{
	"entireio/cli":                  0, // Go
	"FSM1/cipher-box":               1, // TypeScript
	"django/django":                 1, // Python
	"PackmindHub/context-evaluator": 2, // TypeScript
	"EntityProcess/agentv":          2, // TypeScript
	"entireio/git-sync":             2, // Go; Codex's sessions of it are in this fold, as all of Codex's
}

// Of returns the fold of a repository, 0 to Count-1.
func Of(repository string) int {
	if fold, ok := large[repository]; ok {
		return fold
	}
	return Count - 1
}

// sources are the repositories of the sources that have sessions of one alone.
var sources = map[string]string{
	"entire": "entireio/cli", "codex": "EntityProcess/agentv", "bench-browser": "kunchenguid/axi", "bench-github": "kunchenguid/axi",
}

// Repository returns the repository that a session worked on, by the session's source and id. The ids of SWE-bench's sessions have the
// form owner__name-number.
func Repository(source, id string) string {
	if owner, name, ok := strings.Cut(id, "__"); ok {
		if cut := strings.LastIndexByte(name, '-'); cut > 0 {
			name = name[:cut]
		}
		return owner + "/" + name
	}
	if name, ok := sources[source]; ok {
		return name
	}
	return source
}

// Flattened reports whether one list holds the steps of several agents that each have their own prompt. SWE-bench's sessions are such lists
// once an agent has delegated a task. No model ever saw such a list as its prompt.
func Flattened(s sessions.Session) bool {
	return slices.ContainsFunc(s.Steps, func(step sessions.Step) bool { return step.Kind == sessions.Use && step.Tool == "add_task" })
}

// Weights reads the weights of each fold, as train -folds writes them. No folder gives none.
func Weights(dir string) ([]*learned.Weights, error) {
	if dir == "" {
		return nil, nil
	}
	var out []*learned.Weights
	for fold := range Count {
		call, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(fold), learned.CallFile))
		if err != nil {
			return nil, err
		}
		session, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(fold), learned.SessionFile))
		if err != nil {
			return nil, err
		}
		w, err := learned.Parse(string(call), string(session))
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}
