package lineprune

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// fronts are the line prefixes that CI services and container tools add to a log.
var fronts = map[string]func(i int) string{
	"actions":  func(i int) string { return fmt.Sprintf("2026-01-02T03:04:%02d.1234567Z ", i%60) },
	"gh":       func(i int) string { return fmt.Sprintf("job\tStep\t2026-01-02T03:04:%02d.1234567Z ", i%60) },
	"jenkins":  func(i int) string { return fmt.Sprintf("[2026-01-02T03:04:%02d.123Z] ", i%60) },
	"offset":   func(i int) string { return fmt.Sprintf("2026-01-02T03:04:%02d+01:00 ", i%60) },
	"compose":  func(int) string { return "api-1  | " },
	"kubectl":  func(int) string { return "[pod/api-7d4f/main] " },
	"gitlab":   func(i int) string { return fmt.Sprintf("2026-01-02T03:04:%02d.123456Z 01O ", i%60) },
	"zoneless": func(i int) string { return fmt.Sprintf("2026-01-02 03:04:%02d,123 ", i%60) },
	"clock":    func(i int) string { return fmt.Sprintf("03:04:%02d ", i%60) },
	"brackets": func(i int) string { return fmt.Sprintf("[03:04:%02d] ", i%60) },
	"build":    func(i int) string { return fmt.Sprintf("#12 %d.123 ", i) },
	"journal":  func(i int) string { return fmt.Sprintf("Jan  2 03:04:%02d host-7 agent[812]: ", i%60) },
	"no front": func(int) string { return "" },
}

// Pruning a log keeps the same lines whatever the line prefix, except that prefixes can make a gap large
// enough to be worth a marker.
func TestALogIsReadBehindWhatStandsInFront(t *testing.T) {
	for _, name := range []string{"logs_go_fail", "logs_go_pass", "logs_pytest", "logs_gcc", "logs_npm", "logs_python_unittest", "logs_go_panic"} {
		data, err := os.ReadFile("../../testdata/prune/" + name + ".txtar")
		require.NoError(t, err)
		f := parseCase(t, name, data)
		lines := doc.Lines(f.text)
		plain := prune(t, f.text, f.questions[0].question, Logs, Options{})
		for front, of := range fronts {
			var b strings.Builder
			for i, line := range lines {
				b.WriteString(of(i) + line + "\n")
			}
			res := prune(t, b.String(), f.questions[0].question, Auto, Options{})
			require.Equal(t, Logs, res.Kind, "%s, %s", name, front)
			require.Subset(t, plain.Kept, res.Kept, "%s, %s", name, front)
			for i, line := range lines {
				if slices.Contains(f.questions[0].lines, line) {
					require.Contains(t, res.Kept, i+1, "%s, %s: %s", name, front, line)
				}
			}
		}
	}
}

// Terms of the question are also found in the line prefix.
func TestWordsInFrontOfALogAreFound(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		service := "web-1"
		if i == 200 {
			service = "ledger-1"
		}
		fmt.Fprintf(&b, "%-8s  | one more parcel left the hall\n", service)
	}
	kept, res := keptText(t, b.String(), "what does the ledger say?", Options{})
	require.False(t, res.Whole())
	require.True(t, kept["ledger-1  | one more parcel left the hall"])
}

func TestFrontEnd(t *testing.T) {
	for name, of := range fronts {
		for _, text := range []string{"text", "", "  indented"} {
			line := of(7) + text
			require.Equal(t, len(of(7)), structure.FrontEnd(line), "%s: %q", name, line)
		}
		if front := of(7); front != "" {
			require.Equal(t, len(front)-1, structure.FrontEnd(front[:len(front)-1]), "%s, its space trimmed", name)
		}
	}
	for _, line := range []string{
		"2026-01-02T03:04 local", "2026-01-02", "03:04", "03:04:05Xtext", "#12 text", "#12 3 text", "# 3.1 text", "a | b", "case A  | B", "[INFO] text", "[2026-01-02T03:04:05Z]text", "[pod/x", "Jan  2 2026 at noon and later",
		"May be 03:04:05 is a time", "Jan  2 03:04:05 host", "a\tb\tc", "a\tb", "a\tb\t2026-01-02T03:04:05", "-", "[", "[] text", "[]",
	} {
		require.Zero(t, structure.FrontEnd(line), line)
	}
}
