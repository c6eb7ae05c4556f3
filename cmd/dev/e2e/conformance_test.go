//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inapplicable lists checks of the official suites that a server with only tools cannot pass. The key is a pattern for
// "scenario/check", the value the reason.
type inapplicable map[string]string

// ofAny applies to all servers of this test.
var ofAny = inapplicable{
	`(resources|prompts)-.*/.*`:        "there are no resources and no prompts",
	`caching/.*(resources|prompts)-.*`: "there are no resources and no prompts",
	`completion-complete/.*`:           "there are no prompts to complete arguments of",
	`logging-set-level/.*`:             "log lines go to standard error, not to clients",
	`tools-call-with-logging/.*`:       "log lines go to standard error, not to clients",
	`input-required-result-.*/.*`:      "no tool of ours needs input from its client",
	`sep-2164-resource-not-found/.*`:   "there are no resources",
}

// ofServe applies to the server with the program's own three tools.
var ofServe = inapplicable{
	`tools-call-.*/.*`:                        "wants a tool of the suite",
	`json-schema-2020-12/.*`:                  "wants a tool of the suite",
	`elicitation-.*/.*`:                       "wants a tool of the suite",
	`http-custom-header-server-validation/.*`: "wants a tool with x-mcp-header",
	`server-stateless/.*(undeclared-capability|missing-capability-http-400|no-independent-requests|no-log-without).*`: "wants a tool of the suite",
	`http-header-validation/sep-2243-server-accepts-whitespace-header-value`:                                          "calls the first tool without arguments, and each of ours needs one",
}

// ofGateway applies to the gateway in front of the suite's tools.
var ofGateway = inapplicable{
	`server-stateless/.*(undeclared-capability|missing-capability-http-400)`: "the gateway declares every capability to its servers, and refuses their questions where the client cannot answer",
	`server-stateless/.*prompts-list-changed-on-subscription`:                "the suite's server has no prompts that could change",
}

// gatewayOfSuite starts the gateway in front of a server with the suite's tools. The tools keep their names, and their
// schemas where a scenario checks them.
func gatewayOfSuite(w *world) (url string) {
	config, mapping := filepath.Join(w.home, "suite.json"), filepath.Join(w.home, "suite.map.json")
	w.write(config, fmt.Sprintf(`{"mcpServers":{"suite":{"url":%q}}}`, suiteServer(w.t)), 0o600)
	w.write(mapping, `{"pin":["json_schema_2020_12_tool","test_headers"]}`, 0o600)
	return w.listening("gateway", "--http", "--port", "0", "--mode", "trim", "--bare", "--map", mapping, config)
}

// take reports whether the list has a failed check, and marks the pattern that matches it as needed.
func (all inapplicable) take(check string, needed map[string]bool) bool {
	for pattern := range all {
		if regexp.MustCompile("^" + pattern + "$").MatchString(check) {
			needed[pattern] = true
			return true
		}
	}
	return false
}

// TestConformance proves that only the checks listed above fail in the official suites, the released one and the
// newest, for every protocol version that the server offers. The suite's own tools are served with the same packages as
// the program's tools.
func TestConformance(t *testing.T) {
	w := newWorld(t, both()[0], done)
	newest, err := installFrom("clients/conformance/package.json", "mcp-pruner-e2e-conformance")
	if err != nil {
		t.Skip(err)
	}
	suites := map[string][]string{
		clients: {"2025-06-18", "2025-11-25"}, // this suite has no newer versions
		newest:  {"2025-06-18", "2025-11-25", "2026-07-28"},
	}
	servers := []struct {
		name, url string
		not       []inapplicable
	}{
		{"serve", w.serve(), []inapplicable{ofAny, ofServe}},
		{"tools of the suite", suiteServer(t), []inapplicable{ofAny}},
		{"gateway", gatewayOfSuite(w), []inapplicable{ofAny, ofGateway}},
	}
	needed := make(map[string]bool)
	for dir, versions := range suites {
		suite := filepath.Join(dir, "node_modules/@modelcontextprotocol/conformance")
		for _, version := range versions {
			for _, s := range servers {
				t.Run(strings.Join([]string{versionOf(t, suite), version, s.name}, "/"), func(t *testing.T) {
					checks := w.conformance(filepath.Join(suite, "dist/index.js"), version, s.url)
					passed, failed := 0, 0
					for _, c := range checks {
						switch {
						case c.Status == "SUCCESS" || c.Status == "INFO" || c.Status == "SKIPPED":
							passed++
						case slices.ContainsFunc(s.not, func(not inapplicable) bool { return not.take(c.name, needed) }):
							failed++
						default:
							t.Errorf("%s: %s %s", c.Status, c.name, c.ErrorMessage)
						}
					}
					assert.Positive(t, passed)
					t.Logf("%d checks passed, %d cannot apply", passed, failed)
				})
			}
		}
	}
	for _, all := range []inapplicable{ofAny, ofServe, ofGateway} {
		for pattern := range all {
			assert.True(t, needed[pattern], "nothing that fails is like %s: take it off the list", pattern)
		}
	}
}

// check is one check of a scenario. name is "scenario/check".
type check struct {
	name                     string
	ID, Status, ErrorMessage string
}

// conformance runs a suite against a server.
func (w *world) conformance(program, version, url string) (checks []check) {
	w.t.Helper()
	results := w.t.TempDir()
	out, err := w.node(program, "server", "--url", url, "--suite", "all", "--spec-version", version, "-o", results).CombinedOutput()
	var failed *exec.ExitError
	if err != nil {
		require.ErrorAs(w.t, err, &failed, string(out)) // its exit code is not 0 if a check fails
	}
	files, err := filepath.Glob(filepath.Join(results, "server-*", "checks.json"))
	require.NoError(w.t, err)
	require.NotEmpty(w.t, files, string(out))
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(w.t, err)
		var some []check
		require.NoError(w.t, json.Unmarshal(text, &some))
		scenario := dated.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
		require.NotNil(w.t, scenario, file)
		for _, c := range some {
			c.name = scenario[1] + "/" + c.ID
			checks = append(checks, c)
		}
	}
	return checks
}

// dated matches the name of a folder of results: the scenario and a time.
var dated = regexp.MustCompile(`^server-(.*)-\d{4}-\d\d-\d\dT[^/]*$`)

func versionOf(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	require.NoError(t, err)
	var p struct{ Version string }
	require.NoError(t, json.Unmarshal(text, &p))
	return p.Version
}
