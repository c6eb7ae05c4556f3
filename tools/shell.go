package tools

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// shells are the shells that the tool bash uses, in order of preference.
var shells = []string{"bash", "sh"}

// FindShell returns the path of the shell that the tool bash would use.
func FindShell() (path string, err error) {
	for _, name := range shells {
		if path, err = lookPath(name); err == nil {
			return path, nil
		}
	}
	return "", err
}

// FindSearcher returns the path of the program that the tool grep would use, and whether it is rg. It returns an error if
// the tool would search by itself.
func FindSearcher() (path string, rg bool, err error) {
	if path, err = lookPath("rg"); err == nil {
		return path, true, nil
	}
	path, err = lookPath("grep")
	return path, false, err
}

// ShellAdvice tells the user how to install a shell on a system without one.
func ShellAdvice(system string) string {
	if system == "windows" {
		return "; install Git for Windows, which brings one"
	}
	return ""
}

// windows holds the parts of a Windows system that the search for a shell needs.
type windows struct {
	getenv func(string) string
	isFile func(string) bool
}

func thisWindows() windows {
	return windows{os.Getenv, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Mode().IsRegular()
	}}
}

// shell finds bash or sh of Git. It ignores the bash.exe of System32 and WindowsApps,
// although it precedes Git's on PATH: that one starts WSL, a different system with other
// files and programs.
func (w windows) shell(name string) (string, error) {
	if path := w.getenv(agent.GitBash); name == "bash" && path != "" {
		i := max(strings.LastIndexAny(path, `\/`), 0)
		if absolute(path) && w.isFile(path) && !w.launchesWSL(path[:i]) {
			return path, nil
		}
	}
	folders := strings.Split(w.getenv("PATH"), ";")
	for i, folder := range folders {
		folders[i] = strings.TrimRight(strings.ReplaceAll(strings.Trim(strings.TrimSpace(folder), `"`), "/", `\`), `\`)
	}
	folders = slices.DeleteFunc(folders, func(folder string) bool { return !absolute(folder + `\`) })
	for _, folder := range folders {
		if path, ok := w.in(folder, name); ok && !w.launchesWSL(folder) {
			return w.withItsPath(folder, name, path), nil
		}
	}
	for _, folder := range w.gitFolders(folders) {
		for _, below := range []string{`\bin`, `\usr\bin`} {
			if path, ok := w.in(folder+below, name); ok {
				return path, nil
			}
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// absolute reports whether a path names a drive or a server. A shell is never taken from the
// current folder.
func absolute(path string) bool {
	return strings.HasPrefix(path, `\\`) || len(path) > 2 && path[1] == ':' && strings.ContainsRune(`\/`, rune(path[2]))
}

func (w windows) in(folder, name string) (path string, ok bool) {
	path = folder + `\` + name + ".exe"
	return path, w.isFile(path)
}

// withItsPath returns the shell in Git\bin for one that was found in Git\usr\bin: only that
// one puts git itself on its PATH.
func (w windows) withItsPath(folder, name, path string) string {
	const below = `\usr\bin`
	if i := len(folder) - len(below); i > 0 && strings.EqualFold(folder[i:], below) {
		if better, ok := w.in(folder[:i]+`\bin`, name); ok {
			return better
		}
	}
	return path
}

// launchesWSL reports whether the bash.exe in a folder starts WSL.
func (w windows) launchesWSL(folder string) bool {
	folder = strings.ToLower(strings.ReplaceAll(folder, "/", `\`)) + `\`
	for _, part := range []string{`\windows\system32\`, `\windows\syswow64\`, `\windows\sysnative\`, `\windowsapps\`} {
		if strings.Contains(folder, part) {
			return true
		}
	}
	root := strings.TrimRight(strings.ToLower(w.getenv("SystemRoot")), `\`)
	return root != "" && strings.HasPrefix(folder, root+`\`)
}

// gitFolders returns the folders where Git for Windows may be installed: those around a
// git.exe on PATH, those of its installer, for all users and for a single user, those of
// Scoop, and MSYS2.
func (w windows) gitFolders(onPath []string) (found []string) {
	for _, folder := range onPath {
		if _, ok := w.in(folder, "git"); !ok {
			continue
		}
		if around, ok := strings.CutSuffix(strings.ToLower(folder), `\shims`); ok {
			found = append(found, folder[:len(around)]+scoopGit)
		}
		around := folder
		for range 2 { // Git\cmd, Git\bin; Git\mingw64\bin
			if i := strings.LastIndex(around, `\`); i > 0 {
				around = around[:i]
				found = append(found, around)
			}
		}
	}
	for _, place := range [][2]string{
		{"ProgramFiles", `\Git`}, {"ProgramW6432", `\Git`}, {"ProgramFiles(x86)", `\Git`}, {"LocalAppData", `\Programs\Git`},
		{"SCOOP", scoopGit}, {"USERPROFILE", `\scoop` + scoopGit}, {"ProgramData", `\scoop` + scoopGit}, {"SystemDrive", `\msys64`},
	} {
		if folder := strings.TrimRight(w.getenv(place[0]), `\`); folder != "" {
			found = append(found, folder+place[1])
		}
	}
	return found
}

const scoopGit = `\apps\git\current`

// findProgram looks up a program as the system does, except for those of Git on Windows.
func findProgram(system, name string, w windows, otherwise func(string) (string, error)) (string, error) {
	switch {
	case system == "windows" && slices.Contains(shells, name):
		return w.shell(name)
	case system == "windows" && name == "grep":
		// Git's grep takes a pattern such as a{1,3} for names of files, as everything built on Cygwin does. The tool
		// searches by itself instead.
		return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
	}
	return otherwise(name)
}

// standardFolders are the directories searched for programs if PATH is not set.
var standardFolders = []string{"/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin"}

// lookPath finds a program. If PATH is not set, it searches the standard folders.
func lookPath(name string) (string, error) {
	path, err := findProgram(runtime.GOOS, name, thisWindows(), exec.LookPath)
	if err == nil || os.Getenv("PATH") != "" {
		return path, err
	}
	for _, folder := range standardFolders {
		if found, ferr := exec.LookPath(filepath.Join(folder, name)); ferr == nil {
			return found, nil
		}
	}
	return "", err
}
