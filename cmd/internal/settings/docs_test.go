package settings

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write docs/CONFIG.md")

// programs says which settings stand in which table of the page.
var programs = map[string]func(Row) bool{
	"stdio":  func(r Row) bool { return r.For&Stdio != 0 },
	"http":   func(r Row) bool { return r.For&HTTP != 0 && r.For&(Stdio|Proxy) == 0 },
	"pruner": func(r Row) bool { return r.For&Pruner != 0 && r.For&(Stdio|Proxy) == 0 },
	"doors":  func(r Row) bool { return r.For&Proxy != 0 && r.For&Stdio == 0 },
	"runner": func(r Row) bool { return r.For == Runner },
}

// The page of settings is testdata/config.md with a table for each program.
func TestSettingsPageIsUpToDate(t *testing.T) {
	const page = "../../../docs/CONFIG.md"
	text, err := os.ReadFile("testdata/config.md")
	require.NoError(t, err)
	want := string(text)
	for program, has := range programs {
		begin := "<!-- settings: " + program + " -->\n"
		require.Contains(t, want, begin)
		want = strings.Replace(want, begin, begin+markdown(has), 1)
	}
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o600))
	}
	have, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.True(t, want == string(have), "%s is stale: go test ./cmd/internal/settings -update, and read the diff", page)
}

func markdown(of func(Row) bool) string {
	var b strings.Builder
	b.WriteString("| setting | default | allowed | meaning |\n|---|---|---|---|\n")
	for _, r := range table() {
		if !of(r) {
			continue
		}
		value := "unset"
		if r.Default != "" {
			value = "`" + r.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Name, value, r.Allowed, r.meaning())
	}
	return b.String()
}

// meaning is the row's, with its other names.
func (r Row) meaning() string {
	var also []string
	if r.Flag != "" {
		also = append(also, "flag `--"+r.Flag+"`")
	}
	if r.Shared != "" {
		also = append(also, "else `"+r.Shared+"` counts")
	}
	if r.Code != "" {
		also = append(also, "refused as `"+r.Code+"`")
	}
	if len(also) == 0 {
		return r.Meaning
	}
	return r.Meaning + " (" + strings.Join(also, "; ") + ")"
}
