package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	write("go.mod", "module example.com/m\n\ngo 1.26.0\n")
	write("m.go", "package m\n\nimport \"os\"\n\nvar Dir = os.TempDir()\n")
	write("m_test.go", "package m\n\nimport \"testing\"\n\nfunc TestDir(t *testing.T) { t.Log(Dir) }\n")
	systems := []string{"windows/amd64", "darwin/arm64", "linux/386"}
	for _, s := range systems {
		assert.NoError(t, check(folder, s), s)
	}

	write("w_windows.go", "package m\n\nimport \"syscall\"\n\nvar Pid = syscall.Getppid() + Missing\n")
	assert.ErrorContains(t, check(folder, systems[0]), "w_windows.go:5:31: undefined: Missing")
	write("m_darwin_test.go", "package m\n\nvar unused = func() { x := 1 }\n")
	assert.ErrorContains(t, check(folder, systems[1]), "m_darwin_test.go:3:23: declared and not used: x")
	write("m_linux.go", "package m\n\nconst big int = 1 << 40\n")
	assert.ErrorContains(t, check(folder, systems[2]), "m_linux.go:3:17: cannot use 1 << 40")
	assert.NoError(t, check(folder, "linux/amd64"))
	assert.ErrorContains(t, check(folder, "windows/none"), "windows/none")
	assert.ErrorIs(t, check(folder, "go1.99.99"), errNotHere)
	assert.ErrorContains(t, check(t.TempDir(), "linux/arm"), "main module")
}
