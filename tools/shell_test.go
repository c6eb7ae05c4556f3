package tools

import (
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The shell on Windows, on a Windows of names only: Git's wherever it is, and WSL's
// nowhere.
func TestTheShellOnWindows(t *testing.T) {
	const wsl, app = `C:\Windows\System32\bash.exe`, `C:\Users\me\AppData\Local\Microsoft\WindowsApps\bash.exe`
	for name, c := range map[string]struct {
		path  string
		files []string
		want  string
	}{
		"behind WSL on PATH":        {`C:\Windows\System32;C:\Program Files\Git\bin`, []string{wsl, `C:\Program Files\Git\bin\bash.exe`}, `C:\Program Files\Git\bin\bash.exe`},
		"beside git's cmd folder":   {`C:\Windows\system32;D:\tools\Git\cmd`, []string{wsl, `D:\tools\Git\cmd\git.exe`, `D:\tools\Git\bin\bash.exe`}, `D:\tools\Git\bin\bash.exe`},
		"around git's mingw folder": {`D:\Git\mingw64\bin`, []string{`D:\Git\mingw64\bin\git.exe`, `D:\Git\usr\bin\bash.exe`}, `D:\Git\usr\bin\bash.exe`},
		"for all users":             {`C:\Windows\System32`, []string{wsl, `C:\Program Files\Git\bin\bash.exe`}, `C:\Program Files\Git\bin\bash.exe`},
		"for one user":              {`C:\Windows`, []string{wsl, app, `C:\Users\me\AppData\Local\Programs\Git\bin\bash.exe`}, `C:\Users\me\AppData\Local\Programs\Git\bin\bash.exe`},
		"quoted, with a slash":      {`"C:\msys64\usr\bin\";x`, []string{`C:\msys64\usr\bin\bash.exe`}, `C:\msys64\usr\bin\bash.exe`},
		"WSL alone":                 {`C:\Windows\System32\;c:/windows/sysnative;C:\Windows\SysWOW64;C:\Users\me\AppData\Local\Microsoft\WindowsApps`, []string{wsl, app, `C:\Windows\SysWOW64\bash.exe`, `c:/windows/sysnative\bash.exe`}, ""},
		"nothing":                   {"", nil, ""},
	} {
		w := windows{
			getenv: func(variable string) string {
				return map[string]string{
					"PATH": c.path, "SystemRoot": `C:\Windows`, "ProgramFiles": `C:\Program Files`, "LocalAppData": `C:\Users\me\AppData\Local`,
				}[variable]
			},
			isFile: func(path string) bool { return slices.Contains(c.files, path) },
		}
		found, err := w.shell("bash")
		assert.Equal(t, c.want, found, name)
		if c.want != "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, exec.ErrNotFound, name)
	}
}

// What else depends on the system: the text before a command, the advice without a shell, and the locale of grep.
func TestWhatDependsOnTheSystem(t *testing.T) {
	env := []string{pathVariable + "/venv/bin"}
	for system, want := range map[string][3]string{
		"linux":   {pathFirst, "", "C.UTF-8"},
		"darwin":  {pathFirst, "", "en_US.UTF-8"},
		"windows": {"", "; install Git for Windows, which brings one", "C.UTF-8"},
	} {
		assert.Equal(t, want, [3]string{prelude(system, env), shellAdvice(system), utf8Locale(system)}, system)
		assert.Empty(t, prelude(system, nil), system)
	}
}
