package tools

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
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

// shellAdvice tells the user how to install a shell on systems without one.
func shellAdvice(system string) string {
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

// launchesWSL reports whether the bash.exe in a folder starts WSL.
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

// gitFolders returns the folders where Git for Windows may be installed: those around a
// git.exe on PATH, and those of its installer, for all users and for a single user.
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

// findProgram looks up a program as the system does, except for shells on Windows.
func findProgram(name string) (string, error) {
	if runtime.GOOS == "windows" && (name == "bash" || name == "sh") {
		return thisWindows().shell(name)
	}
	return exec.LookPath(name)
}
