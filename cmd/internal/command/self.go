package command

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

// Self returns a path of this program. onPath reports whether a shell finds the program as "mcp-pruner". The path is one
// that stays valid after an upgrade, if there is one: a link on PATH or Homebrew's, whose target an upgrade changes, or the
// command of a version manager. [Lasts] tells whether it does.
func Self() (path string, onPath bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", false, err
	}
	path, onPath = find(self, runtime.GOOS, filepath.SplitList(os.Getenv("PATH")))
	return path, onPath, nil
}

// loginFolders are the folders that PATH has in every login shell.
var loginFolders = []string{"/usr/local/bin", "/usr/bin", "/bin"}

// InLoginShell reports whether a login shell finds this program as "mcp-pruner", whatever the PATH of this process is.
func InLoginShell() bool {
	self, err := os.Executable()
	if err != nil {
		return false
	}
	_, found := find(self, runtime.GOOS, loginFolders)
	return found
}

// find is Self for a program at a path and the folders of PATH.
func find(self, system string, folders []string) (path string, onPath bool) {
	name := Program
	if system == "windows" {
		name += ".exe"
	}
	var first, launcher string // the first of that name, and the first that starts this program
	var same []string          // other names of this program
	for _, folder := range folders {
		file := filepath.Join(folder, name)
		if info, err := os.Stat(file); !filepath.IsAbs(file) || err != nil || info.IsDir() || system != "windows" && info.Mode()&0o111 == 0 {
			continue
		}
		if first == "" {
			first = file
			if launches(file, self) {
				launcher = file
			}
		}
		if sameFile(file, self) {
			same = append(same, file)
		}
	}
	onPath = launcher != "" || len(same) > 0 && same[0] == first
	for _, path := range append(append(same, homebrewLink(self)), self, launcher) {
		if path != "" && Lasts(path, system) {
			return path, onPath
		}
	}
	if len(same) > 0 {
		return same[0], onPath
	}
	return self, onPath
}

// versioned matches the name of a folder that an upgrade removes, such as 1.2.3, v22.1.0 or mcp-pruner_0.1.0_linux_amd64.
var versioned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[-_@v])\d+\.\d+`) })

// Lasts reports whether a path of a program stays valid after an upgrade: no folder in it has a version in its name, as
// under nvm, asdf and in Homebrew's Cellar, and it is not in npx's cache.
func Lasts(path, system string) bool {
	if InNpxCache(path, system) {
		return false
	}
	for _, folder := range strings.FieldsFunc(filepath.Dir(path), func(r rune) bool { return r == '/' || r == '\\' }) {
		if versioned().MatchString(folder) {
			return false
		}
	}
	return true
}

// InNpxCache reports whether a program lies in npx's cache, which npx may empty. system is a name as in runtime.GOOS.
func InNpxCache(path, system string) bool {
	return strings.Contains(path, "/_npx/") || system == "windows" && strings.Contains(path, `\_npx\`)
}

// homebrewLink returns the link in Homebrew's folder opt that leads to a program in its Cellar, or "".
func homebrewLink(self string) string {
	prefix, rest, ok := strings.Cut(self, "/Cellar/")
	parts := strings.SplitN(rest, "/", 3) // formula, version, path
	if !ok || len(parts) < 3 {
		return ""
	}
	if link := filepath.Join(prefix, "opt", parts[0], parts[2]); sameFile(link, self) {
		return link
	}
	return ""
}

// launches reports whether a file is the command of a package manager that starts this program: npm's script of the package
// whose program this is, or the shim of a version manager (asdf, mise, volta) in whose folders this program lies.
func launches(file, self string) bool {
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return false
	}
	if folder := filepath.Dir(target); filepath.Base(target) == "mcp-pruner.js" {
		return strings.HasPrefix(self, filepath.Dir(folder)+string(filepath.Separator)) && strings.Contains(filepath.ToSlash(self), "/@mcp-pruner/")
	}
	folder := filepath.Dir(file)
	manager := filepath.Dir(folder)
	shims := filepath.Base(folder) == "shims" || filepath.Base(manager) == ".volta"
	return shims && strings.HasPrefix(self, manager+string(filepath.Separator))
}

// IsSelf reports whether a path is of this program, or of a command that starts it.
func IsSelf(path string) bool {
	self, err := os.Executable()
	return err == nil && (sameFile(path, self) || launches(path, self))
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
