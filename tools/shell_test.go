package tools

import (
	"errors"
	"maps"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A Windows of names only. Git's bash is found wherever it is, and WSL's is found nowhere.
func TestTheShellOnWindows(t *testing.T) {
	const (
		wsl   = `C:\Windows\System32\bash.exe`
		app   = `C:\Users\me\AppData\Local\Microsoft\WindowsApps\bash.exe`
		git   = `C:\Program Files\Git\bin\bash.exe`
		scoop = `C:\Users\me\scoop\apps\git\current\bin\bash.exe`
	)
	for name, c := range map[string]struct {
		path  string
		files []string
		env   map[string]string
		want  string
	}{
		"behind WSL on PATH":             {`C:\Windows\System32;C:\Program Files\Git\bin`, []string{wsl, git}, nil, git},
		"behind the app's alias on PATH": {`C:\Users\me\AppData\Local\Microsoft\WindowsApps;C:\Program Files\Git\bin`, []string{app, git}, nil, git},
		"beside git's cmd folder":        {`C:\Windows\system32;D:\tools\Git\cmd`, []string{wsl, `D:\tools\Git\cmd\git.exe`, `D:\tools\Git\bin\bash.exe`}, nil, `D:\tools\Git\bin\bash.exe`},
		"around git's mingw folder":      {`D:\Git\mingw64\bin`, []string{`D:\Git\mingw64\bin\git.exe`, `D:\Git\usr\bin\bash.exe`}, nil, `D:\Git\usr\bin\bash.exe`},
		"for all users":                  {`C:\Windows\System32`, []string{wsl, git}, nil, git},
		"for one user":                   {`C:\Windows`, []string{wsl, app, `C:\Users\me\AppData\Local\Programs\Git\bin\bash.exe`}, nil, `C:\Users\me\AppData\Local\Programs\Git\bin\bash.exe`},
		"of the first Git on PATH":       {`D:\Git\cmd;C:\Program Files\Git\cmd`, []string{`D:\Git\cmd\git.exe`, `D:\Git\bin\bash.exe`, `C:\Program Files\Git\cmd\git.exe`, git}, nil, `D:\Git\bin\bash.exe`},
		"with git on its own PATH":       {`C:\Program Files\Git\usr\bin`, []string{`C:\Program Files\Git\usr\bin\bash.exe`, git}, nil, git},
		"quoted, with a slash":           {`"C:\msys64\usr\bin\";x`, []string{`C:\msys64\usr\bin\bash.exe`}, nil, `C:\msys64\usr\bin\bash.exe`},
		"of MSYS2, not on PATH":          {`C:\Windows`, []string{wsl, `C:\msys64\usr\bin\bash.exe`}, nil, `C:\msys64\usr\bin\bash.exe`},
		"Scoop's shim":                   {`C:\Users\me\scoop\shims`, []string{`C:\Users\me\scoop\shims\bash.exe`, scoop}, nil, `C:\Users\me\scoop\shims\bash.exe`},
		"beside Scoop's shim of git":     {`E:\Scoop\shims`, []string{`E:\Scoop\shims\git.exe`, `E:\Scoop\apps\git\current\bin\bash.exe`}, nil, `E:\Scoop\apps\git\current\bin\bash.exe`},
		"of Scoop, not on PATH":          {`C:\Windows`, []string{scoop}, nil, scoop},
		"named for Claude Code":          {`C:\Program Files\Git\bin`, []string{git, `D:\my\bash.exe`}, map[string]string{"CLAUDE_CODE_GIT_BASH_PATH": `D:\my\bash.exe`}, `D:\my\bash.exe`},
		"named for Claude Code and gone": {`C:\Program Files\Git\bin`, []string{git}, map[string]string{"CLAUDE_CODE_GIT_BASH_PATH": `D:\my\bash.exe`}, git},
		"named for Claude Code: WSL":     {`C:\Program Files\Git\bin`, []string{git, wsl}, map[string]string{"CLAUDE_CODE_GIT_BASH_PATH": wsl}, git},
		"another folder of Windows":      {`W:\WINNT\System32;W:\WINNT`, []string{`W:\WINNT\System32\bash.exe`, `W:\WINNT\bash.exe`}, map[string]string{"SystemRoot": `W:\WINNT\`}, ""},
		"WSL alone":                      {`C:\Windows\System32\;c:/windows/sysnative;C:\Windows\SysWOW64;C:\Users\me\AppData\Local\Microsoft\WindowsApps\`, []string{wsl, app, `C:\Windows\SysWOW64\bash.exe`, `c:\windows\sysnative\bash.exe`}, nil, ""},
		"of the current folder":          {`.;bin;;\tools;C:tools`, []string{`.\bash.exe`, `bin\bash.exe`, `\bash.exe`, `\tools\bash.exe`, `C:tools\bash.exe`}, nil, ""},
		"nothing":                        {"", nil, nil, ""},
	} {
		env := map[string]string{
			"PATH": c.path, "SystemRoot": `C:\Windows`, "SystemDrive": "C:", "ProgramFiles": `C:\Program Files`,
			"LocalAppData": `C:\Users\me\AppData\Local`, "USERPROFILE": `C:\Users\me`,
		}
		maps.Copy(env, c.env)
		w := windows{
			getenv: func(variable string) string { return env[variable] },
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

// On Windows only a shell is looked up in a special way, and Git's grep is not used.
func TestFindProgram(t *testing.T) {
	w := windows{
		getenv: func(name string) string { return map[string]string{"PATH": `D:\Git\bin`}[name] },
		isFile: func(path string) bool { return path == `D:\Git\bin\bash.exe` || path == `D:\Git\bin\grep.exe` },
	}
	onPath := func(name string) (string, error) { return "on PATH: " + name, nil }
	for system, want := range map[string][]string{
		"linux":   {"on PATH: bash", "on PATH: grep", "on PATH: rg"},
		"darwin":  {"on PATH: bash", "on PATH: grep", "on PATH: rg"},
		"windows": {`D:\Git\bin\bash.exe`, "", "on PATH: rg"},
	} {
		for i, name := range []string{"bash", "grep", "rg"} {
			found, err := findProgram(system, name, w, onPath)
			assert.Equal(t, want[i], found, system)
			assert.Equal(t, want[i] == "", errors.Is(err, exec.ErrNotFound), system)
		}
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
		assert.Equal(t, want, [3]string{prelude(system, env), ShellAdvice(system), utf8Locale(system)}, system)
		assert.Empty(t, prelude(system, nil), system)
	}
}
