// Package system finds programs, folders and settings where a client runs.
package system

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// System is where a client runs: the operating system, named as in runtime.GOOS, and an environment.
type System struct {
	name string
	env  []string
}

// Here is this system, with an environment.
func Here(env []string) System { return System{runtime.GOOS, env} }

func (s System) windows() bool { return s.name == "windows" }

// Get returns a variable, "" if it is not set. On Windows, where PATH is usually called Path,
// the case of its name does not matter. If a variable is set twice, the last value counts.
func (s System) Get(name string) string {
	value, _ := s.Lookup(name)
	return value
}

// Lookup returns a variable, and whether it is set.
func (s System) Lookup(name string) (string, bool) {
	for _, entry := range slices.Backward(s.env) {
		key, value, ok := strings.Cut(entry, "=")
		if ok && (key == name || s.windows() && strings.EqualFold(key, name)) {
			return value, true
		}
	}
	return "", false
}

// LookPath returns the absolute path of a program on PATH, "" if there is none.
func (s System) LookPath(program string) string {
	for _, dir := range filepath.SplitList(s.Get("PATH")) {
		if path := s.In(dir, program); filepath.IsAbs(dir) && path != "" {
			return path
		}
	}
	return ""
}

// In returns the path of a program in a folder, "" if it is not there. On Windows the names of
// programs have an extension that a command may leave out.
func (s System) In(dir, program string) string {
	names := []string{program}
	if s.windows() && filepath.Ext(program) == "" {
		names = nil // npm also installs a shell script without an extension, which Windows cannot run
		for extension := range strings.SplitSeq(cmp.Or(s.Get("PATHEXT"), ".com;.exe;.bat;.cmd"), ";") {
			names = append(names, program+strings.ToLower(extension))
		}
	}
	for _, name := range names {
		if path := filepath.Join(dir, name); s.Executable(path) {
			return path
		}
	}
	return ""
}

// Executable reports whether a file can be started. Windows has no mode that says so.
func (s System) Executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (s.windows() || info.Mode()&0o111 != 0)
}

// Home returns the user's home folder, "" if it is not known.
func (s System) Home() string {
	if home := s.Get("HOME"); home != "" || !s.windows() {
		return home
	}
	return s.Get("USERPROFILE")
}

// checkArgs refuses arguments that a client's command file (npm installs a .cmd) would not get as they are: cmd.exe
// looks for special characters in them, and would run what follows an ampersand.
func (s System) checkArgs(program string, args []string) error {
	extension := strings.ToLower(filepath.Ext(program))
	if !s.windows() || extension != ".cmd" && extension != ".bat" {
		return nil
	}
	for _, arg := range args {
		if i := strings.IndexAny(arg, "&|<>^%\r\n"); i >= 0 {
			return fmt.Errorf("%s is a command file, and cmd.exe would change an argument with %q: install the client as an .exe, or leave that out", program, arg[i])
		}
	}
	return nil
}

// ClientPath returns the path of a client that is to be started with these arguments.
func (s System) ClientPath(client string, args []string) (string, error) {
	path := s.LookPath(client)
	if path == "" {
		return "", fmt.Errorf("%s is not on PATH", client)
	}
	return path, s.checkArgs(path, args)
}
