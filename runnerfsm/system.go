package runnerfsm

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// system is where a client runs: the operating system, named as in runtime.GOOS, and an environment.
type system struct {
	name string
	env  []string
}

func here(env []string) system { return system{runtime.GOOS, env} }

func (s system) windows() bool { return s.name == "windows" }

// get returns a variable, "" if it is not set. On Windows, where PATH is usually called Path,
// the case of its name does not matter. If a variable is set twice, the last value counts.
func (s system) get(name string) string {
	value, _ := s.lookup(name)
	return value
}

func (s system) lookup(name string) (string, bool) {
	for _, entry := range slices.Backward(s.env) {
		key, value, ok := strings.Cut(entry, "=")
		if ok && (key == name || s.windows() && strings.EqualFold(key, name)) {
			return value, true
		}
	}
	return "", false
}

// lookPath returns the absolute path of a program on PATH, "" if there is none.
func (s system) lookPath(program string) string {
	for _, dir := range filepath.SplitList(s.get("PATH")) {
		if path := s.in(dir, program); filepath.IsAbs(dir) && path != "" {
			return path
		}
	}
	return ""
}

// in returns the path of a program in a folder, "" if it is not there. On Windows the names of
// programs have an extension that a command may leave out.
func (s system) in(dir, program string) string {
	names := []string{program}
	if s.windows() && filepath.Ext(program) == "" {
		names = nil // npm also installs a shell script without an extension, which Windows cannot run
		for extension := range strings.SplitSeq(cmp.Or(s.get("PATHEXT"), ".com;.exe;.bat;.cmd"), ";") {
			names = append(names, program+strings.ToLower(extension))
		}
	}
	for _, name := range names {
		if path := filepath.Join(dir, name); s.executable(path) {
			return path
		}
	}
	return ""
}

// executable reports whether a file can be started. Windows has no mode that says so.
func (s system) executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (s.windows() || info.Mode()&0o111 != 0)
}

// home returns the user's home folder, "" if it is not known.
func (s system) home() string {
	if home := s.get("HOME"); home != "" || !s.windows() {
		return home
	}
	return s.get("USERPROFILE")
}

// checkArgs refuses arguments that a client's command file (npm installs a .cmd) would not get as they are: cmd.exe
// looks for special characters in them, and would run what follows an ampersand.
func (s system) checkArgs(program string, args []string) error {
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
