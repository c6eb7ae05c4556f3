//go:build unix

package conformance

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestVulnerabilities proves that a known vulnerability fails .ci/vulns, and therefore .ci/run. If govulncheck or its
// data is not available, .ci/vulns only prints a message. A script replaces the go command, because otherwise the
// program would have to link vulnerable code.
func TestVulnerabilities(t *testing.T) {
	for name, c := range map[string]struct {
		script       string
		code         int
		stdout, said string
	}{
		"none":    {"exit 0", 0, "", ""},
		"found":   {"echo 'Vulnerability #1: GO-2099-0001'; echo 'exit status 3' >&2; exit 1", 1, "Vulnerability #1: GO-2099-0001\nexit status 3\n", ""},
		"no data": {"echo 'govulncheck: fetching vulnerabilities: no such host'; echo 'exit status 1' >&2; exit 1", 0, "govulncheck: fetching vulnerabilities: no such host\nexit status 1\n", "govulncheck did not check: its tool or its data cannot be had here\n"},
	} {
		bin := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\n"+c.script+"\n"), 0o700))
		cmd := exec.Command("../../../.ci/vulns")
		cmd.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // the exit code is compared below
		assert.Equal(t, c.code, cmd.ProcessState.ExitCode(), name)
		assert.Equal(t, c.stdout, stdout.String(), name)
		assert.Equal(t, c.said, stderr.String(), name)
	}
	run, err := os.ReadFile("../../../.ci/run")
	require.NoError(t, err)
	assert.Regexp(t, `(?m)^\tstep \.ci/vulns$`, string(run), "its exit code counts")
	assert.Regexp(t, `(?m)^\tstep make systems$`, string(run), "by another version of Go, too")
}

// TestMissingProgramsAreNamed proves that the README's commands only name the programs that are missing. CI installs them.
func TestMissingProgramsAreNamed(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"tr", "id"} { // what .ci/install itself needs
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(bin, name)))
	}
	manager := "#!/bin/sh\n: >" + bin + "/asked\n[ $1 = update ] || { : >" + bin + "/rg; /bin/chmod 700 " + bin + "/rg; }\n"
	for _, name := range []string{"apt-get", "sudo"} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(manager), 0o700))
	}
	install := func(args ...string) string {
		cmd := exec.Command("../../../.ci/install", args...)
		cmd.Env = []string{"PATH=" + bin}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err)
		return string(out)
	}
	assert.Equal(t, "rg (package ripgrep) is not here: the tool grep falls back to the system's grep, and its tests with rg are skipped\n"+
		"hugo (package hugo) is not here: the site is not built\n", install("-n", "hugo", "rg"))
	assert.NoFileExists(t, filepath.Join(bin, "asked"))
	assert.Equal(t, "rg is not here; trying to install ripgrep with the package manager\n", install("rg"))
	assert.FileExists(t, filepath.Join(bin, "rg"))

	makefile, err := os.ReadFile("../../../Makefile")
	require.NoError(t, err)
	assert.NotRegexp(t, `\.ci/install [^-]`, string(makefile), "a recipe installs nothing")
}
