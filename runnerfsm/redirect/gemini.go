package redirect

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// geminiKey is the only way to sign in whose requests go to the address of the variable.
const geminiKey = "gemini-api-key"

// gemini sends the calls of Gemini CLI to a proxy by its variable, which wins over the files .env that it reads.
func gemini(c *agent.Client, s Start) (Plan, error) {
	written, where := geminiVariables(s)
	get := func(name string) string {
		if v, set := system.Here(s.Env).Lookup(name); set {
			return v
		}
		return written[name]
	}
	if err := other(c, get); err != nil {
		return Plan{}, err
	}
	chosen, err := geminiAuth(c, s)
	if err != nil {
		return Plan{}, err
	}
	if chosen != "" && chosen != geminiKey && chosen != "gateway" {
		return Plan{}, refusef("%s signs in by %q, whose requests go to another API than Gemini's: choose \"Use Gemini API key\" in its /auth, or start it without --proxy", c.Title, chosen)
	}
	base := get(c.Base.Variable)
	if s.get(c.Base.Variable) != "" {
		where = "the environment"
	} else if base != "" && !atHome(where, s) {
		return Plan{}, refusef("%s stands in %s, which %s obeys only in a folder that it trusts, so that it is not sure where it would send its key: set the variable in the environment, or start it without --proxy",
			c.Base.Variable, where, c.Title)
	}
	u, err := upstream(c, base, where)
	if err != nil {
		return Plan{}, err
	}
	return toOne(u, func(p Proxy) (Change, error) {
		return Change{Env: []string{c.Base.Variable + "=" + p.url("", "")}, Args: s.Args}, nil
	}), nil
}

// geminiAuth returns how Gemini CLI signs in by its settings, "" if they do not say.
func geminiAuth(c *agent.Client, s Start) (chosen string, err error) {
	files, err := s.home().Files(c.Name)
	if err != nil {
		return "", err
	}
	for _, path := range []string{files.Servers.Path, filepath.Join(s.Dir, ".gemini", "settings.json")} {
		text, err := setup.File{Path: path}.Read()
		if err != nil || text == nil {
			continue
		}
		data, err := files.Servers.Syntax.Decode(text)
		if err != nil {
			return "", refusef("%s: %v", path, err)
		}
		settings, _ := data.(map[string]any)
		for _, at := range [][]string{{"selectedAuthType"}, {"security", "auth", "selectedType"}} {
			if v, ok := agent.ValueAt(settings, at...).(string); ok {
				chosen = v
			}
		}
	}
	return chosen, nil
}

// geminiVariables returns the variables of the first file .env that Gemini CLI finds, above the working directory and in the
// home folder.
func geminiVariables(s Start) (found map[string]string, where string) {
	folders := []string{}
	for dir := s.Dir; ; dir = filepath.Dir(dir) {
		folders = append(folders, dir)
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if home := system.Here(s.Env).Home(); home != "" {
		folders = append(folders, home)
	}
	for _, folder := range folders {
		for _, name := range []string{filepath.Join(".gemini", ".env"), ".env"} {
			path := filepath.Join(folder, name)
			if text, err := os.ReadFile(path); err == nil {
				return dotenv(text), path
			}
		}
	}
	return nil, ""
}

// atHome reports whether a file .env is the user's, and not a project's.
func atHome(path string, s Start) bool {
	dir := filepath.Dir(path)
	if filepath.Base(dir) == ".gemini" {
		dir = filepath.Dir(dir)
	}
	return dir == system.Here(s.Env).Home()
}

// dotenv reads lines NAME=VALUE, with quotes around the value or without.
func dotenv(text []byte) map[string]string {
	found := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "export "), "=")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		value = strings.TrimSpace(value)
		if len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			value = value[1 : len(value)-1]
		} else if i := strings.Index(value, " #"); i >= 0 {
			value = strings.TrimSpace(value[:i])
		}
		found[strings.TrimSpace(name)] = value
	}
	return found
}
