package tools

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// shells are what the tool bash runs commands with, the better one first.
var shells = []string{"bash", "sh"}

// FindShell returns the shell that the tool bash would run commands with.
func FindShell() (path string, err error) {
	for _, name := range shells {
		if path, err = lookPath(name); err == nil {
			return path, nil
		}
	}
	return "", err
}

// shellAdvice says how to get a shell where systems come without one.
func shellAdvice() string {
	if runtime.GOOS == "windows" {
		return "; install Git for Windows, which brings one"
	}
	return ""
}

// windows is what finding a shell there needs of the system.
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

// shell finds Git's bash or sh. The bash.exe of System32 and WindowsApps starts WSL,
// another system with other files and programs: it is never taken, though it stands
// before Git's on PATH.
func (w windows) shell(name string) (string, error) {
	folders := strings.Split(w.getenv("PATH"), ";")
	for _, folder := range folders {
		if path, ok := w.in(folder, name); ok && !w.launchesWSL(folder) {
			return path, nil
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

func (w windows) in(folder, name string) (path string, ok bool) {
	folder = strings.TrimRight(strings.Trim(strings.TrimSpace(folder), `"`), `\/`)
	path = folder + `\` + name + ".exe"
	return path, folder != "" && w.isFile(path)
}

// launchesWSL says whether a folder's bash.exe is the one of WSL.
func (w windows) launchesWSL(folder string) bool {
	folder = strings.ToLower(strings.ReplaceAll(strings.Trim(strings.TrimSpace(folder), `"`), "/", `\`))
	folder = strings.TrimRight(folder, `\`)
	for _, part := range []string{`\system32`, `\syswow64`, `\sysnative`, `\microsoft\windowsapps`} {
		if strings.HasSuffix(folder, part) {
			return true
		}
	}
	root := strings.TrimRight(strings.ToLower(w.getenv("SystemRoot")), `\`)
	return root != "" && (folder == root || strings.HasPrefix(folder, root+`\`))
}

// gitFolders is where Git for Windows may be: around a git.exe on PATH, and where its
// installer puts it for all users and for one.
func (w windows) gitFolders(onPath []string) (found []string) {
	for _, folder := range onPath {
		if path, ok := w.in(folder, "git"); ok {
			around := strings.TrimSuffix(path, `\git.exe`)
			for range 2 { // Git\cmd, Git\bin; Git\mingw64\bin
				if i := strings.LastIndex(around, `\`); i > 0 {
					around = around[:i]
					found = append(found, around)
				}
			}
		}
	}
	for _, place := range [][2]string{{"ProgramFiles", ""}, {"ProgramW6432", ""}, {"ProgramFiles(x86)", ""}, {"LocalAppData", `\Programs`}} {
		if folder := w.getenv(place[0]); folder != "" {
			found = append(found, folder+place[1]+`\Git`)
		}
	}
	return found
}

// findProgram looks a program up as the system does, but for shells on Windows.
func findProgram(name string) (string, error) {
	if runtime.GOOS == "windows" && (name == "bash" || name == "sh") {
		return thisWindows().shell(name)
	}
	return exec.LookPath(name)
}
