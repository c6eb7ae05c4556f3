package tools

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// engines runs a test with rg, with grep and with neither. On a machine without rg it says
// clearly that a part of the test was skipped.
func engines(t *testing.T, test func(t *testing.T, s Settings)) {
	t.Helper()
	t.Run("rg", func(t *testing.T) {
		if _, err := exec.LookPath("rg"); err != nil {
			t.Skip("RG IS NOT INSTALLED: A PART OF THE GREP TESTS DID NOT RUN")
		}
		test(t, Settings{})
	})
	t.Run("grep", func(t *testing.T) {
		test(t, Settings{LookPath: without("rg")})
	})
	t.Run("none", func(t *testing.T) {
		test(t, Settings{LookPath: without("rg", "grep")})
	})
}

// TestGrepCases runs every file of testdata/grep with every engine. Its sections are call;
// text or error; optionally truncated and paths; the files of tree/, and of kept/ the outputs that are stored under ids.
func TestGrepCases(t *testing.T) {
	files, err := filepath.Glob("testdata/grep/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			engines(t, func(t *testing.T, s Settings) { grepCase(t, s, file) })
		})
	}
}

func grepCase(t *testing.T, s Settings, file string) {
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	s.Root = t.TempDir()
	sections, kept := map[string]string{}, map[string]string{}
	s.Original = func(_ context.Context, id string) (string, bool, error) {
		text, found := kept[id]
		return text, found, nil
	}
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "tree/"); ok {
			write(t, s.Root, name, string(f.Data))
			continue
		}
		if id, ok := strings.CutPrefix(f.Name, "kept/"); ok {
			kept[id] = string(f.Data)
			continue
		}
		require.Contains(t, []string{"call", "text", "error", "truncated", "paths"}, f.Name, "unknown section")
		sections[f.Name] = string(f.Data)
	}
	out, err := call(t, newTools(t, s)["grep"], sections["call"])
	if want, ok := sections["error"]; ok {
		code, exit, _ := strings.Cut(strings.TrimSpace(want), " ")
		e := failure(t, err, code)
		if exit != "" {
			require.NotNil(t, e.ExitCode)
			assert.Equal(t, exit, fmt.Sprint(*e.ExitCode))
		}
		assert.NotContains(t, e.Message, s.Root, "the message names a path of this machine")
		return
	}
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSuffix(sections["text"], "\n"), out.Text())
	found := structured(t, out)
	_, truncated := sections["truncated"]
	assert.Equal(t, truncated, found["truncated"])
	assert.Len(t, found["matches"], int(found["match_count"].(float64)))
	if want, ok := sections["paths"]; ok {
		assert.Equal(t, strings.Fields(want), strings.Fields(fmt.Sprint(found["paths"])[1:len(fmt.Sprint(found["paths"]))-1]))
	}
	roundTrip(t, out)
}

// roundTrip checks that an output which a pruner returns unchanged gives the same result.
func roundTrip(t *testing.T, out Output) {
	t.Helper()
	again := prunedTo(t, out, out.Code())
	assert.Equal(t, structured(t, out), structured(t, again))
	assert.Equal(t, out.Text(), again.Text())
}

// TestEnginesAgree compares the engines on many patterns over one tree of difficult files.
func TestEnginesAgree(t *testing.T) {
	if _, err := exec.LookPath("rg"); err != nil {
		t.Skip("RG IS NOT INSTALLED: THE ENGINES WERE NOT COMPARED")
	}
	root := t.TempDir()
	awkwardTree(t, root)
	rg := newTools(t, Settings{Root: root})["grep"]
	others := map[string]Tool{
		"grep": newTools(t, Settings{Root: root, LookPath: without("rg")})["grep"],
		"none": newTools(t, Settings{Root: root, LookPath: without("rg", "grep")})["grep"],
	}
	patterns := []string{
		"a", "word", `\bword\b`, `\w+`, `^\s*$`, "^", "$", `^$`, "x*", `[^a-z]`, `[\w-]+\d`, `[]a]`, `[\]a]`, `[a\-z]`,
		`[^\d\s]`, `\d{2,3}`, `(?:foo|bar)+`, `(?P<n>foo)`, `(?i)WORD`, `.*?o`, `o+?`, `\.`, `\$`, `\t`, `a|^b`, `\x41`, `\x{e9}`,
		`[[:upper:]]{2}`, `[[:word:]]+`, `[^[:word:]]{2}`, `[[:alpha:]]`, `[[:alnum:]-]{3}`, `^[[:upper:]]`, `[^[:lower:]]$`, `\p{Lu}`, `é`, `[é-ü]`, `ß`, `.{3}`, `\(\)`, `\-`, `[^]]`, `[-a]`, `[a-]`, `[\^]`, `[\^\-]`, `word$`, `\s$`,
		`\S+\s+\S+`, `(a)(b)?`, `a{0}`, `\Bord`, `{`, `*a`, `(`, `[`, `[z-a]`, `\q`, `+`, `a|`, `|`, `()`, `\\`, `"`, `#`, `[.]`, `[[]`,
		`\pL`, `[a&&b]`, `\D`, `\W\W`, `\S`, `^(word|foo)`, `[a-c-e]`, `\z`, `\A.`, `~`, `\~`, "\t", `\h`, `[\s\S]`, `foo[\s\S]*r`, `[\w\W]{3}$`, `^[A-F\D]`, `[^\S]`, `[^\W_]{2}`, `[\W\d]+$`, `[\p{Lu}\d]`, `[[:^alpha:]]$`, `w(?i)ORD`, `\p{So}`, `\P{L}$`, `[a-c-e]`, `[\w.-]+`, `é|word`, `[^é]$`, `caf.`, `x{2`, `x{,2}`, `}`, `]`, `\<w`,
	}
	more := []string{`,"case_sensitive":false`, `,"output_mode":"count"`, `,"context_lines":2,"max_matches":3`, `,"fixed_string":true`}
	for i, pattern := range patterns {
		if testing.Short() && i%5 != 0 { // each of more comes up all the same
			continue
		}
		for _, more := range []string{"", more[i%len(more)]} {
			args := `{"pattern":` + quote(pattern) + more + `}`
			want, wantErr := call(t, rg, args)
			for engine, tool := range others {
				got, gotErr := call(t, tool, args)
				if wantErr != nil {
					require.Error(t, gotErr, "%s %s", engine, args)
					failure(t, gotErr, failure(t, wantErr, "rg_error").Code)
					continue
				}
				if !assert.NoError(t, gotErr, "%s %s", engine, args) {
					continue
				}
				assert.Equal(t, want.Text(), got.Text(), "%s %s", engine, args)
				roundTrip(t, got)
			}
		}
	}
}

// awkwardTree writes files that the engines might treat differently.
func awkwardTree(t *testing.T, root string) {
	t.Helper()
	write(t, root, "text.txt", "word\nfoo bar\n\n  \nA-1 b_22 c333\nÉté é größe Ü ß\n\tTab\nend without newline")
	write(t, root, "crlf.txt", "word\r\n\r\nfoo word\r\n")
	write(t, root, "latin1.txt", "caf\xe9 word\nok \xff\xfe x\n\xe9\n")
	write(t, root, "punct.go", "func main() { }\na/b [x] {y} $1 ^ ~ - ] }\nx.y \"q\" # \\ | + *\n")
	write(t, root, "bom.txt", "\xef\xbb\xbfword first\nsecond\n")
	write(t, root, "utf16.txt", "\xff\xfew\x00o\x00r\x00d\x00\n\x00\xe9\x00\n\x00")
	write(t, root, "utf16be.txt", "\xfe\xff\x00w\x00o\x00r\x00d\x00\n")
	write(t, root, "binary", "word\x00word\nword\n")
	write(t, root, "late-nul.log", strings.Repeat(strings.Repeat("- .", 33)+"word\n", 1_400)+"\x00word\nword\n")
	write(t, root, "empty", "")
	write(t, root, "newlines", "\n\n\n")
	write(t, root, "name:12:x/a:3:b", "word\nfoo\n")
	write(t, root, "line\nend", "word\nbar\n")
	write(t, root, "-dash", "word\n")
	write(t, root, "bad\xffname", "word\n")
	write(t, root, "a b/c d", "foo  word\n")
	write(t, root, ".hidden", "word\n")
	require.NoError(t, os.Symlink("text.txt", filepath.Join(root, "link")))
	require.NoError(t, os.Symlink("/etc", filepath.Join(root, "etc")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(root, "dangling")))
}

// TestGrepLongLinesOfQuotes: lines whose events are about as long as the size at which
// events are cut.
func TestGrepLongLinesOfQuotes(t *testing.T) {
	root := t.TempDir()
	write(t, root, "csv", strings.Repeat(`"a",`, 17_500)+"NEEDLE")
	write(t, root, "first", "NEEDLE"+strings.Repeat(`"`, 40_000))
	write(t, root, "odd", "NEEDLE"+strings.Repeat(`"`, 70_001))
	write(t, root, "tabs", strings.Repeat("\t\x01\\", 30_000)+"NEEDLE")
	want := map[string]float64{"csv": 70_001, "first": 1, "odd": 1, "tabs": 90_001}
	engines(t, func(t *testing.T, s Settings) {
		s.Root = root
		out := run(t, newTools(t, s)["grep"], `{"pattern":"NEEDLE"}`)
		columns := map[string]float64{}
		for _, m := range structured(t, out)["matches"].([]any) {
			m := m.(map[string]any)
			columns[m["path"].(string)] = m["column"].(float64)
		}
		assert.Equal(t, want, columns)
	})
}

// TestColumnsBesideLetters: without rg, a column that cannot be determined is null, and all
// others agree with rg.
func TestColumnsBesideLetters(t *testing.T) {
	const unknown = 0
	for _, c := range []struct {
		line, pattern string
		column, grep  int
	}{
		{"word", `\bword\b`, 1, 1},
		{"é word", `\bword\b`, 3, 3},
		{"word é", `\bword\b`, 1, 1},
		{"éword word", `\bword\b`, 7, unknown},
		{"wordé word", `\bword\b`, 7, unknown},
		{"x é", `\bé`, 3, unknown},
		{"é x", `é\b`, 1, unknown},
		{"aéb", `\Béb`, 2, unknown},
		{"éaxa", `\Ba`, 2, unknown},
		{"é ax", `(?i)\bA`, 3, 3},
		{"é word", `word`, 3, 3},
	} {
		root := t.TempDir()
		write(t, root, "f", c.line+"\n")
		t.Run(c.line+" "+c.pattern, func(t *testing.T) {
			engines(t, func(t *testing.T, s Settings) {
				s.Root = root
				want := c.column
				if s.LookPath != nil {
					want = c.grep
				}
				out := run(t, newTools(t, s)["grep"], `{"pattern":`+quote(c.pattern)+`}`)
				matches := structured(t, out)["matches"].([]any)
				require.Len(t, matches, 1)
				column, _ := matches[0].(map[string]any)["column"].(float64)
				assert.Equal(t, want, int(column))
				roundTrip(t, out)
			})
		})
	}
}
