package telemetry

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/telemetry/telemetrytest"
)

// TestTheDashboardAsksForWhatThereIs: the queries of the dashboard and of the alerts name only metrics and labels that the
// page documents, which another test compares with a scrape.
func TestTheDashboardAsksForWhatThereIs(t *testing.T) {
	documented := telemetrytest.Documented(t, page)
	seen := map[string]bool{}
	for _, query := range append(queriesOf(t, "dashboard.json"), queriesOf(t, "alerts.yaml")...) {
		var labels []string
		for _, name := range regexp.MustCompile(`\b(mcp_\w+)\b`).FindAllStringSubmatch(withoutGroups(query), -1) {
			base, known := name[1], false
			for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
				if has, ok := documented[strings.TrimSuffix(base, suffix)]; ok && strings.HasSuffix(base, suffix) {
					labels, known = append(labels, has...), true
				}
			}
			if !known && strings.Contains(query, base+"=") {
				continue // a label
			}
			assert.True(t, known, "%s in %s", base, query)
			seen[base] = true
		}
		for _, label := range labelsOf(query) {
			assert.Contains(t, append(labels, "job", "le", "instance"), label, query)
		}
	}
	for name := range documented {
		used := slices.ContainsFunc([]string{"", "_bucket", "_count"}, func(s string) bool { return seen[name+s] })
		assert.True(t, used || name == "mcp_pruner_net_tokens" || name == "mcp_pruner_requests_total", "%s is on no dashboard", name)
	}
}

// queriesOf returns the queries of a file in docs/deploy.
func queriesOf(t *testing.T, name string) (queries []string) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/deploy/" + name)
	require.NoError(t, err)
	if strings.HasSuffix(name, ".yaml") {
		for _, m := range regexp.MustCompile(`(?m)^ +expr: (.+)$`).FindAllStringSubmatch(string(text), -1) {
			queries = append(queries, m[1])
		}
		assert.Len(t, queries, strings.Count(string(text), "alert:"))
		return queries
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	for _, p := range dashboard.Panels {
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			queries = append(queries, target.Expr)
		}
	}
	return queries
}

var groups = regexp.MustCompile(`by \(([^)]*)\)`)

func withoutGroups(query string) string { return groups.ReplaceAllString(query, "") }

// labelsOf returns the labels by which a query groups or selects.
func labelsOf(query string) (labels []string) {
	for _, g := range groups.FindAllStringSubmatch(query, -1) {
		for _, l := range strings.Split(g[1], ",") {
			labels = append(labels, strings.TrimSpace(l))
		}
	}
	for _, l := range regexp.MustCompile(`[{,](\w+)=`).FindAllStringSubmatch(query, -1) {
		labels = append(labels, l[1])
	}
	return labels
}
