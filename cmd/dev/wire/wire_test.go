//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const data = "../../../testdata"

// build builds the program.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "mcp-pruner")
	out, err := exec.Command("go", "build", "-o", program, "github.com/mcp-pruner/mcp-pruner/cmd/mcp-pruner").CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}

// TestCompare compares a program with itself, and with one that answers one word differently.
func TestCompare(t *testing.T) {
	program := build(t)
	few := choice{data: data, only: "codex-mcp-client", sizes: sizes{calls: 48, events: 8, requests: 20, tools: 20}}
	var out strings.Builder
	equal, err := compare(&out, program, program, few)
	require.NoError(t, err)
	assert.True(t, equal, out.String())
	assert.Regexp(t, `codex-mcp-client +stdio +48 +48 +\d+\n`, out.String())

	other := filepath.Join(t.TempDir(), "mcp-pruner")
	script := "#!/bin/sh\n" + program + ` "$@" | sed -u 's/total_lines/lines_total/g'` + "\n"
	require.NoError(t, os.WriteFile(other, []byte(script), 0o700))
	out.Reset()
	few.sizes = sizes{calls: 24}
	equal, err = compare(&out, program, other, few)
	require.NoError(t, err)
	assert.False(t, equal)
	assert.Regexp(t, `(?s)first difference: exchange \d+, byte \d+\n  sent .*total_lines.*lines_total`, out.String())
}

// TestMask: what is random keeps its length and its identity, and durations go, whatever the quoting.
func TestMask(t *testing.T) {
	m := newMasker()
	long := "prn_" + strings.Repeat("0a", 16)
	assert.Equal(t, "prn_ID1_of_36 prn_ID2_of_12 prn_ID1_of_36", m.mask(long+" prn_3ddf8b97 "+long))
	assert.Equal(t, "prn_ID2_of_12", m.mask("prn_3ddf8b97"))
	assert.Equal(t, "prn_3ddf", m.mask("prn_3ddf"))
	assert.Equal(t, `{"duration_ms":MS,"text":"{\"elapsed_ms\":MS}","raw_bytes":7}`, m.mask(`{"duration_ms":12,"text":"{\"elapsed_ms\":3}","raw_bytes":7}`))
}
