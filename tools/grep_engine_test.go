//go:build unix

package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeProgram returns a script that replaces rg or grep.
func fakeProgram(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fake")
	require.NoError(t, os.WriteFile(path, []byte(script), 0o755))
	return path
}

// programs returns a LookPath that knows only these programs; an empty path means not
// installed.
func programs(known map[string]string) func(string) (string, error) {
	return func(name string) (string, error) {
		if path, ok := known[name]; ok && path != "" {
			return path, nil
		}
		if _, ok := known[name]; ok {
			return "", exec.ErrNotFound
		}
		return exec.LookPath(name)
	}
}

func TestGrepChoosesItsEngine(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a", "word\n")
	for about, rg := range map[string]string{
		"missing":        "",
		"not executable": filepath.Join(root, "a"),
		"no interpreter": fakeProgram(t, "#!/no/such/program\n"),
		"no program":     fakeProgram(t, "\x7fELF nonsense"),
	} {
		out, err := call(t, newTools(t, Settings{Root: root, LookPath: programs(map[string]string{"rg": rg})})["grep"], `{"pattern":"word"}`)
		require.NoError(t, err, about)
		assert.Equal(t, "a:1:1:word", out.Text(), about)
	}
	none := newTools(t, Settings{Root: root, LookPath: programs(map[string]string{"rg": "", "grep": ""})})["grep"]
	out := run(t, none, `{"pattern":"word"}`)
	assert.Equal(t, "a:1:1:word", out.Text())
	broken := map[string]string{"rg": "", "grep": filepath.Join(root, "a")}
	fails(t, newTools(t, Settings{Root: root, LookPath: programs(broken)})["grep"], `{"pattern":"word"}`, "spawn_error")
}

// TestAWarningIsNoFailure: the dynamic linker complains about a preload library on the
// standard error of every program, and the search still succeeds.
func TestAWarningIsNoFailure(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a", "word\n")
	for _, engine := range []string{"rg", "grep"} {
		real, err := exec.LookPath(engine)
		if err != nil {
			continue // one of the two is always installed
		}
		warns := fakeProgram(t, "#!/bin/sh\necho \"ERROR: ld.so: object '/no/lib.so' from LD_PRELOAD cannot be preloaded (cannot open shared object file): ignored.\" >&2\nexec "+real+" \"$@\"\n")
		known := map[string]string{"rg": "", "grep": ""}
		known[engine] = warns
		grep := newTools(t, Settings{Root: root, LookPath: programs(known)})["grep"]
		for _, mode := range []string{"content", "files", "count"} {
			out, err := call(t, grep, `{"pattern":"word","output_mode":"`+mode+`"}`)
			require.NoError(t, err, engine+" "+mode)
			assert.Contains(t, out.Text(), "a", engine+" "+mode)
			_, err = call(t, grep, `{"pattern":"nowhere","output_mode":"`+mode+`"}`)
			require.NoError(t, err, engine+" "+mode)
		}
	}
}

// TestGrepCommandLines compares the commands with those of the design.
func TestGrepCommandLines(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a", "word\n")
	args := filepath.Join(t.TempDir(), "args")
	fake := fakeProgram(t, fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" >%s\n", args))
	real, err := filepath.EvalSymlinks(root)
	require.NoError(t, err)
	for _, c := range []struct{ engine, args, begin, end string }{
		{"rg", `{"pattern":"-x"}`, "--json", "-e -x -- " + real},
		{"rg", `{"pattern":"x","fixed_string":true,"case_sensitive":false,"glob":"-*"}`, "--json", "-F -i --pre-glob=-* --ignore-file=/dev/stdin -e x -- " + real},
		{"rg", `{"pattern":"x","glob":"!*.md"}`, "--json", "--glob=!*.md -e x -- " + real},
		{"rg", `{"pattern":"x","output_mode":"count"}`, "-c -H --null", "-e x -- " + real},
		{"rg", `{"pattern":"x","output_mode":"files"}`, "-l --null", "-e x -- " + real},
		{"grep", `{"pattern":"-x"}`, "-R -n -H", "-E -e -x -D skip -- " + real + "/a"},
		{"grep", `{"pattern":"x","fixed_string":true,"case_sensitive":false}`, "-R -n -H", "-F -i -e x -D skip -- " + real + "/a"},
	} {
		known := map[string]string{"rg": "", "grep": ""}
		known[c.engine] = fake
		_ = run(t, newTools(t, Settings{Root: root, LookPath: programs(known)})["grep"], c.args)
		line, err := os.ReadFile(args)
		require.NoError(t, err)
		got := strings.Join(strings.Split(strings.TrimSpace(string(line)), "\n"), " ")
		assert.True(t, strings.HasPrefix(got, c.begin+" "), got)
		assert.True(t, strings.HasSuffix(got, c.end), got)
	}
}

func TestGrepEngineFails(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a", "word\n")
	found := fmt.Sprintf(`{"type":"match","data":{"path":{"text":"%s/a"},"lines":{"text":"word\n"},"line_number":1,"absolute_offset":0,"submatches":[]}}`, root)
	rg := fakeProgram(t, "#!/bin/sh\ncat <<'END'\n"+found+"\nEND\necho 'cannot read b' >&2\nexit 2\n")
	grep := fakeProgram(t, fmt.Sprintf("#!/bin/sh\nprintf '%%s\\0%%s\\n' %s/a 1:word\necho 'cannot read b' >&2\nexit 2\n", root))
	for _, known := range []map[string]string{{"rg": rg}, {"rg": "", "grep": grep}} {
		e := fails(t, newTools(t, Settings{Root: root, LookPath: programs(known)})["grep"], `{"pattern":"word"}`, "rg_error")
		assert.Equal(t, 2, *e.ExitCode)
		assert.Equal(t, "cannot read b", e.Message)
	}
}

// TestGrepAndBadIgnoreFiles: rg's messages about lines in ignore files are no failure,
// however many there are, and hide no real failure.
func TestGrepAndBadIgnoreFiles(t *testing.T) {
	const bad = "/r/.gitignore: line 1: error parsing glob '[a': unclosed character class; missing ']'"
	root := t.TempDir()
	write(t, root, "a", "word\n")
	real, err := filepath.EvalSymlinks(root)
	require.NoError(t, err)
	found := fmt.Sprintf(`{"type":"match","data":{"path":{"text":"%s/a"},"lines":{"text":"word\n"},"line_number":1,"absolute_offset":0,"submatches":[]}}`, real)
	for _, c := range []struct {
		said, exit, message string
	}{
		{bad, "2", ""},
		{"rg: " + bad, "2", ""},
		{"/r/.git/../../info/exclude: line 12: error parsing glob '\\': dangling '\\'", "2", ""},
		{strings.Repeat(bad+"\n", 100) + bad, "2", ""},
		{"/r/.ignore: line 1: error parsing glob '" + strings.Repeat("{", 100_000) + "': no", "2", ""},
		{strings.Repeat(bad+"\n", 100) + "b: cannot read", "2", "b: cannot read"},
		{"b: cannot read\n" + bad, "2", "b: cannot read"},
		{bad + ": Permission denied (os error 13)", "2", bad + ": Permission denied (os error 13)"},
		{"error parsing glob '[': unclosed", "2", "error parsing glob '[': unclosed"},
		{"/r/a: line 1: error parsing glob '[': unclosed", "2", "/r/a: line 1: error parsing glob '[': unclosed"},
		{bad, "137", ""}, // killed: it is searched without rg
		{"", "2", "search failed"},
	} {
		rg := fakeProgram(t, "#!/bin/sh\ncat <<'END'\n"+found+"\nEND\ncat >&2 <<'END'\n"+c.said+"\nEND\nexit "+c.exit+"\n")
		out, err := call(t, newTools(t, Settings{Root: root, LookPath: programs(map[string]string{"rg": rg})})["grep"], `{"pattern":"word"}`)
		if c.message == "" {
			require.NoError(t, err, "%.200s", c.said)
			assert.Equal(t, "a:1:1:word", out.Text())
			continue
		}
		e := failure(t, err, "rg_error")
		assert.Equal(t, c.message, e.Message)
		assert.Equal(t, c.exit, fmt.Sprint(*e.ExitCode))
	}
}

func TestGrepTimeoutAndCancel(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a", "word\n")
	group := filepath.Join(t.TempDir(), "group")
	slow := fakeProgram(t, "#!/bin/sh\nsleep 600 &\necho $$ >"+group+".new; mv "+group+".new "+group+"\nwait\n")
	for _, known := range []map[string]string{{"rg": slow}, {"rg": "", "grep": slow}} {
		grep := newTools(t, Settings{Root: root, LookPath: programs(known)})["grep"]
		gone := func() bool { return !running(-pidIn(t, group)) }

		_ = os.Remove(group)
		assert.Equal(t, 700, fails(t, grep, `{"pattern":"word","timeout_ms":700}`, "timeout").TimeoutMS)
		require.Eventually(t, gone, time.Minute, 10*time.Millisecond)

		_ = os.Remove(group)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil {
				if _, err := os.Stat(group); err == nil {
					cancel()
				}
			}
		}()
		_, err := checked(t, grep, `{"pattern":"word"}`).Run(ctx)
		require.True(t, errors.Is(err, context.Canceled), "%v", err)
		require.Eventually(t, gone, time.Minute, 10*time.Millisecond)
	}
}

// TestGrepStopsEarly: an engine that never ends is stopped when there are enough matches.
func TestGrepStopsEarly(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a", strings.Repeat("word\n", 100_000))
	engines(t, func(t *testing.T, s Settings) {
		s.Root = root
		out := run(t, newTools(t, s)["grep"], `{"pattern":"word","max_matches":3}`)
		got := structured(t, out)
		assert.Equal(t, []any{3., true}, []any{got["match_count"], got["truncated"]})
		out = run(t, newTools(t, s)["grep"], `{"pattern":"word","max_matches":5000,"max_output_bytes":1024}`)
		got = structured(t, out)
		assert.Equal(t, []any{256., true}, []any{got["match_count"], got["truncated"]})
	})
}

// TestGrepStopsAtTheFirst: a search that stops early returns the beginning of the complete
// result, in the same order with both engines.
func TestGrepStopsAtTheFirst(t *testing.T) {
	root := t.TempDir()
	names := []string{"-x/f", "A/z", "a/b/y", "a/b-", "a/x.txt", "a b/c", "a-b.txt", "a.txt", "a\nb", "a\xff", "a😀", "b"}
	for _, name := range names {
		write(t, root, name, "before\nfoo\n")
	}
	require.NoError(t, os.Symlink("a", filepath.Join(root, "z")))
	require.NoError(t, os.Symlink("A", filepath.Join(root, "a0")))
	for _, c := range []struct{ args, files string }{
		{``, "-x/f A/z a/b/y a/b- a/x.txt a␤b a␠b/c a-b.txt a.txt a😀 a\ufffd b"},
		{`,"paths":["b","z","a.txt","a0"]`, "a.txt a0/z b z/b/y z/b- z/x.txt"},
		{`,"paths":[".","-x","a/b"]`, "-x/f A/z a/b/y a/b- a/x.txt a␤b a␠b/c a-b.txt a.txt a😀 a\ufffd b"},
	} {
		engines(t, func(t *testing.T, s Settings) {
			s.Root = root
			grep := newTools(t, s)["grep"]
			for _, more := range []string{`,"output_mode":"files"`, `,"output_mode":"count"`, "", `,"context_lines":1`} {
				args := `{"pattern":"foo"` + c.args + more
				all := run(t, grep, args+"}")
				total := len(strings.Fields(c.files))
				for n := 1; n <= total; n++ {
					some := run(t, grep, fmt.Sprintf(`%s,"max_matches":%d}`, args, n))
					assert.True(t, strings.HasPrefix(all.Text(), some.Text()), "%s %d: %s", args, n, some.Text())
					assert.Equal(t, n < total, structured(t, some)["truncated"])
				}
			}
			files := run(t, grep, `{"pattern":"foo","output_mode":"files"`+c.args+`}`)
			want := strings.NewReplacer(" ", "\n", "␠", " ", "␤", "\n").Replace(c.files)
			assert.Equal(t, want, files.Text())
		})
	}
}

// TestGrepCapShowsTheFirstMatch: a limit smaller than the first line cuts that line.
func TestGrepCapShowsTheFirstMatch(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a", strings.Repeat("😀", 400)+"\n")
	engines(t, func(t *testing.T, s Settings) {
		s.Root = root
		out := run(t, newTools(t, s)["grep"], `{"pattern":"😀","max_output_bytes":1025}`)
		assert.Equal(t, "a:1:1:"+strings.Repeat("😀", 256), out.Text())
		assert.Equal(t, true, structured(t, out)["truncated"])
	})
}

// TestGrepReadsOnlyWhatIsInside: when an engine reports matches outside the root, none of
// their text is returned.
func TestGrepReadsOnlyWhatIsInside(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	write(t, outside, "secret", "word\n")
	write(t, root, "a", "word\n")
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "out")))
	var events strings.Builder
	for _, path := range []string{outside + "/secret", root + "/out/secret", root + "/../secret", root + "/a"} {
		fmt.Fprintf(&events, `{"type":"match","data":{"path":{"text":%q},"lines":{"text":"secret"},"line_number":1,"absolute_offset":0,"submatches":[]}}`+"\n", path)
	}
	rg := fakeProgram(t, "#!/bin/sh\ncat <<'END'\n"+events.String()+"END\n")
	out := run(t, newTools(t, Settings{Root: root, LookPath: programs(map[string]string{"rg": rg})})["grep"], `{"pattern":"word"}`)
	assert.Equal(t, "a:1:1:word", out.Text())
}

// TestGrepThatKnowsNoOption: a grep that refuses an option with exit code 1 failed,
// although 1 usually means that nothing was found.
func TestGrepThatKnowsNoOption(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a", "word\n")
	grep := fakeProgram(t, "#!/bin/sh\necho 'grep: unrecognized option: null' >&2\nexit 1\n")
	_, err := call(t, newTools(t, Settings{Root: root, LookPath: programs(map[string]string{"rg": "", "grep": grep})})["grep"], `{"pattern":"word"}`)
	e := failure(t, err, "rg_error")
	assert.Equal(t, 2, *e.ExitCode)
	assert.Contains(t, e.Message, "unrecognized option")
}

// TestGrepNeverDropsAMatch: a match event that cannot be parsed fails the search.
func TestGrepNeverDropsAMatch(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a", "word\n")
	for _, event := range []string{
		`{"type":"match","data":{"path":{"text":"a"x"}}}\n`,
		`{"type":"match","data":{"path":{"text":"a"x""}}}\n{"type":"end"}\n`,
		`{"type":"match","data":{"path":{"text":"a"}}}\n`,
		`{"type":"match","data":{"path":{"te`,
	} {
		rg := fakeProgram(t, "#!/bin/sh\nprintf '"+event+"'\n")
		_, err := call(t, newTools(t, Settings{Root: root, LookPath: programs(map[string]string{"rg": rg})})["grep"], `{"pattern":"word"}`)
		assert.Contains(t, failure(t, err, "rg_error").Message, "cannot be read", event)
	}
}
