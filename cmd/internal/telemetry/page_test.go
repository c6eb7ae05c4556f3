package telemetry

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/telemetry/telemetrytest"
)

const page = "../../../docs/TEAMS.md"

// TestThePageNamesWhatThereIs compares docs/TEAMS.md with a scrape, with spans and with the variables that the code reads.
func TestThePageNamesWhatThereIs(t *testing.T) {
	var logs eventLog
	c := telemetrytest.NewCollector(t)
	p, end := pipeline(t, Options{Metrics: "127.0.0.1:0", Transport: "tcp", Emit: logs.emit, Database: func(context.Context) error { return nil }, Env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL}})
	call(p, nil, map[string]any{"text": strings.Repeat("words ", 90), "question": "which?"}, "")
	call(p, nil, map[string]any{"text": "fail"}, "")
	metrics := make(map[string][]string)
	for name, family := range telemetrytest.Scrape(t, logs.first("mcp_pruner.metrics_ready")["url"].(string)) {
		var labels []string
		for _, l := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		metrics[name] = labels
	}
	end()
	documented := telemetrytest.Documented(t, page)
	for _, labels := range documented {
		slices.Sort(labels)
	}
	for _, labels := range metrics {
		slices.Sort(labels)
	}
	assert.Equal(t, documented, metrics)

	text, err := os.ReadFile(page)
	require.NoError(t, err)
	attributes := make(map[string]bool)
	for _, s := range c.Spans() {
		for _, a := range s.GetAttributes() {
			attributes[a.GetKey()] = true
		}
		for _, e := range s.GetEvents() {
			for _, a := range e.GetAttributes() {
				attributes[a.GetKey()] = true
			}
		}
	}
	named := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 3 && (cells[2] == " span " || cells[2] == " event ") {
			for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
				named[name[1]] = true
			}
		}
	}
	assert.Equal(t, named, attributes)

	outcomes, err := os.ReadFile("outcome.go")
	require.NoError(t, err)
	_, failures, _ := strings.Cut(string(outcomes), "\nfunc failure(")
	failures, _, _ = strings.Cut(failures, "\n}\n")
	words := regexp.MustCompile(`return "([a-z_]+)"`).FindAllStringSubmatch(failures, -1)
	require.Len(t, words, 7)
	for _, word := range words {
		assert.Contains(t, string(text), "`"+word[1]+"`")
	}

	variable := regexp.MustCompile(`OTEL_[A-Z_]*[A-Z]`)
	bySDK := []string{"OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "OTEL_BSP"}
	code, err := os.ReadFile("spans.go")
	require.NoError(t, err)
	unique := func(text string, more ...string) []string {
		list := append(variable.FindAllString(text, -1), more...)
		slices.Sort(list)
		return slices.Compact(list)
	}
	assert.Equal(t, unique(string(code), bySDK...), unique(string(text)))
}

// TestRules gives the rules in docs/deploy to Prometheus, with series that they must tell apart.
func TestRules(t *testing.T) {
	rules, err := os.ReadFile("../../../docs/deploy/rules.yaml")
	require.NoError(t, err)
	documented := telemetrytest.Documented(t, page)
	for _, name := range regexp.MustCompile(`\bmcp_[a-z_]+[{[]`).FindAllString(string(rules), -1) {
		assert.Contains(t, documented, strings.TrimSuffix(name[:len(name)-1], "_bucket"))
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not here")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rules.yml"), rules, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "test.yml"), []byte(rulesTest), 0o600))
	for _, args := range [][]string{{"check", "rules", "rules.yml"}, {"test", "rules", "test.yml"}} {
		cmd := exec.Command(promtool, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, "%s", out)
	}
}

// Of two jobs over a day, only "bad" is to be reported.
const rulesTest = `
rule_files: [rules.yml]
evaluation_interval: 5m
tests:
  - interval: 5m
    input_series:
      - {series: 'mcp_pruner_raw_tokens_total{job="good",tool="read"}', values: '0+1000x300'}
      - {series: 'mcp_pruner_sent_tokens_total{job="good",tool="read"}', values: '0+400x300'}
      - {series: 'mcp_pruner_question_tokens_total{job="good",tool="read"}', values: '0+10x300'}
      - {series: 'mcp_pruner_recovered_tokens_total{job="good",tool="read"}', values: '0+20x300'}
      - {series: 'mcp_pruner_raw_tokens_total{job="bad",tool="read"}', values: '0+400x150 0+400x150'}
      - {series: 'mcp_pruner_sent_tokens_total{job="bad",tool="read"}', values: '0+500x150 0+500x150'}
      - {series: 'mcp_pruner_question_tokens_total{job="bad",tool="read"}', values: '0+10x150 0+10x150'}
      - {series: 'mcp_pruner_recovered_tokens_total{job="bad",tool="read"}', values: '0+200x150 0+200x150'}
    alert_rule_test:
      - {eval_time: 24h, alertname: PruningCostsMoreThanItSaves, exp_alerts: [{exp_labels: {job: bad}}]}
      - {eval_time: 24h, alertname: PrunedOutputIsReadAgain, exp_alerts: [{exp_labels: {job: bad}}]}
    promql_expr_test:
      - {eval_time: 24h, expr: 'job:mcp_pruner_saved_tokens:increase1d{job="good"}', exp_samples: [{labels: 'job:mcp_pruner_saved_tokens:increase1d{job="good"}', value: 169920}]}
  - interval: 1m
    input_series:
      - {series: 'mcp_pruner_decisions_total{job="good",tool="read",decision="pruned",reason="applied"}', values: '0+100x60'}
      - {series: 'mcp_pruner_decisions_total{job="good",tool="read",decision="whole",reason="pruner_error_timeout"}', values: '0+1x60'}
      - {series: 'mcp_pruner_decisions_total{job="bad",tool="read",decision="pruned",reason="applied"}', values: '0+10x60'}
      - {series: 'mcp_pruner_decisions_total{job="bad",tool="read",decision="whole",reason="pruner_error_timeout"}', values: '0+10x60'}
      - {series: 'mcp_server_operation_duration_seconds_bucket{job="good",mcp_method_name="tools/call",gen_ai_tool_name="read",le="1"}', values: '0+10x60'}
      - {series: 'mcp_server_operation_duration_seconds_bucket{job="good",mcp_method_name="tools/call",gen_ai_tool_name="read",le="60"}', values: '0+10x60'}
      - {series: 'mcp_server_operation_duration_seconds_bucket{job="good",mcp_method_name="tools/call",gen_ai_tool_name="read",le="+Inf"}', values: '0+10x60'}
      - {series: 'mcp_server_operation_duration_seconds_bucket{job="bad",mcp_method_name="tools/call",gen_ai_tool_name="read",le="1"}', values: '0+1x60'}
      - {series: 'mcp_server_operation_duration_seconds_bucket{job="bad",mcp_method_name="tools/call",gen_ai_tool_name="read",le="60"}', values: '0+10x60'}
      - {series: 'mcp_server_operation_duration_seconds_bucket{job="bad",mcp_method_name="tools/call",gen_ai_tool_name="read",le="+Inf"}', values: '0+10x60'}
    alert_rule_test:
      - {eval_time: 30m, alertname: PrunerFails, exp_alerts: [{exp_labels: {job: bad}}]}
      - {eval_time: 30m, alertname: ToolIsSlow, exp_alerts: [{exp_labels: {job: bad, gen_ai_tool_name: read}}]}
`
