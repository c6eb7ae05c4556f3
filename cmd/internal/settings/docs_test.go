package settings

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the tables of settings in docs/")

// section is a generated table in a page: which program's settings, and the rows.
var section = regexp.MustCompile(`(?s)<!-- settings: (\w+) -->\n.*?<!-- end of settings -->`)

var programs = map[string]func(Row) bool{
	"stdio":  func(r Row) bool { return r.For&Stdio != 0 },
	"http":   func(r Row) bool { return r.For&HTTP != 0 && r.For&(Stdio|Proxy) == 0 },
	"pruner": func(r Row) bool { return r.For&Pruner != 0 && r.For&(Stdio|Proxy) == 0 },
	"doors":  func(r Row) bool { return r.For&Proxy != 0 && r.For&Stdio == 0 },
	"runner": func(r Row) bool { return r.For == Runner },
}

// The tables of settings in the pages for users are generated from the one here.
func TestSettingsPagesAreUpToDate(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/*.md")
	require.NoError(t, err)
	found := make(map[string]bool)
	for _, page := range pages {
		have, err := os.ReadFile(page)
		require.NoError(t, err)
		want := section.ReplaceAllFunc(have, func(old []byte) []byte {
			program := string(section.FindSubmatch(old)[1])
			require.Contains(t, programs, program, page)
			found[program] = true
			return fmt.Appendf(nil, "<!-- settings: %s -->\n%s<!-- end of settings -->", program, markdown(programs[program]))
		})
		if *update {
			require.NoError(t, os.WriteFile(page, want, 0o600))
			continue
		}
		assert.True(t, bytes.Equal(want, have), "%s is stale: go test ./cmd/internal/settings -update, and read the diff", page)
	}
	for program := range programs {
		assert.True(t, found[program], "no page documents the settings of %s", program)
	}
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
