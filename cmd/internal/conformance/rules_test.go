package conformance

import (
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// insideImports are the imports of a sibling's inside that are left. The list may only become shorter.
var insideImports = map[string]bool{
	"pruneclient/history pruneclient/lineprune/session": true, // the events that the learned ranking reads
	"runnerfsm/redirect runnerfsm/setup/secret":         true, // the proxy's secret
}

// TestNobodyImportsASiblingsInside: what is below a package is for that package, and for rooms elsewhere in the house; a package
// next to it asks the package itself.
func TestNobodyImportsASiblingsInside(t *testing.T) {
	all := packages(t)
	exists := map[string]bool{}
	for _, p := range all {
		exists[documented(p.ImportPath)] = true
	}
	found := map[string]bool{}
	for _, p := range all {
		from := documented(p.ImportPath)
		for _, i := range p.Imports {
			inside := documented(i)
			room := path.Dir(inside)
			house := path.Dir(room)
			if exists[room] && house != "." && strings.HasPrefix(from, house+"/") && from != room && !strings.HasPrefix(from, room+"/") {
				found[from+" "+inside] = true
			}
		}
	}
	assert.Equal(t, insideImports, found)
}

// anyVerb are the packages that every verb may import: what assembles, what verbs share, and leaves.
var anyVerb = []string{"cmd/internal/assemble", "cmd/internal/command", "cmd/internal/settings", "fsm", "tools", "tools/agent", "tools/files", "tools/page", "tools/terminal", "tools/tokens"}

// domainsOfVerbs are the files of verbs that import more than one domain package, with the most that they may import. The numbers may
// only fall.
var domainsOfVerbs = map[string]int{
	"context_apply.go": 2, "context_choice.go": 2, "context_look.go": 3, "context_report.go": 2, "doctor.go": 4, "doctor_clients.go": 5,
	"doctor_proxy.go": 3, "doctor_state.go": 4, "gain.go": 2, "gateway.go": 5, "gateway_init.go": 4, "gc.go": 2, "gc_clean.go": 2,
	"gc_settings.go": 2, "gc_verbs.go": 2, "keys.go": 2, "recover.go": 4, "replay.go": 3, "store.go": 2, "trace.go": 2, "try.go": 3,
	"uninstall.go": 5, "verbs.go": 5, "view.go": 2,
}

// TestAVerbImportsOneDomain: a verb parses its flags and calls one package of the domain; what a server, a hook or a proxy works with
// it gets of assemble.
func TestAVerbImportsOneDomain(t *testing.T) {
	sources, err := filepath.Glob("../verbs/*.go")
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		name, domains := filepath.Base(source), domainsOf(t, source)
		most, excepted := domainsOfVerbs[name]
		assert.LessOrEqual(t, len(domains), max(most, 1), "%s imports %v", name, domains)
		assert.False(t, excepted && len(domains) < 2, "%s keeps the rule now: take it out of domainsOfVerbs", name)
	}
}

// domainsOf returns the domain packages that a file imports. A package below another one that it imports counts with that.
func domainsOf(t *testing.T, source string) (domains []string) {
	t.Helper()
	raw, err := os.ReadFile(source)
	require.NoError(t, err)
	file, err := parser.ParseFile(token.NewFileSet(), source, raw, parser.ImportsOnly)
	require.NoError(t, err)
	for _, i := range file.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		require.NoError(t, err)
		name, ours := strings.CutPrefix(name, module)
		below := slices.ContainsFunc(domains, func(d string) bool { return strings.HasPrefix(name, d+"/") })
		if ours && !below && !slices.Contains(anyVerb, name) {
			domains = append(domains, name)
		}
	}
	return domains
}
