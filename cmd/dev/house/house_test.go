package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMeasure measures a module of three packages: top imports middle, middle imports bottom; two of bottom's files need
// each other, a third only uses them; and nobody uses bottom.Idle.
func TestMeasure(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"go.mod":                   "module example.com/house\n\ngo 1.26\n",
		"cmd/top/main.go":          "package main\n\nimport \"example.com/house/states\"\n\nfunc main() { states.Run() }\n",
		"states/run.go":            "package states\n\nimport \"example.com/house/tools\"\n\nfunc Run() { tools.Even(2) }\n",
		"tools/even.go":            "package tools\n\nfunc Even(n int) bool { return n == 0 || odd(n-1) }\n",
		"tools/odd.go":             "package tools\n\nfunc odd(n int) bool { return n != 0 && Even(n-1) }\n",
		"tools/idle.go":            "package tools\n\nfunc Idle() bool { return odd(1) }\n",
		"tools/even_test.go":       "package tools\n",
		"cmd/dev/bench/skipped.go": "package bench\n\n\n\n\n",
	} {
		file := filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}

	measured, err := measure(root)

	require.NoError(t, err)
	assert.Equal(t, table{
		{"lines of source", "19"}, {"lines of tests", "1"},
		{"source in `cmd`", "5"}, {"source in `fsm`", "0"}, {"source in `states`", "5"}, {"source in `tools`", "9"},
		{"source in `pruneclient`", "0"}, {"source in `runnerfsm`", "0"},
		{"share of `cmd`", "26.3 %"}, {"packages", "3"}, {"largest circle of files", "2 (`tools`)"},
		{"longest chain of imports", "3"}, {"exported names unused outside their package", "1"},
	}, measured)
}
