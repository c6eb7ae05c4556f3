package initcmd

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
)

// memberPiece adds one member. A member of the same name that init did not write is an error.
func (h home) memberPiece(k kind, file setup.File, value any, at ...string) piece {
	isOurs := func(v any) bool { return h.ownMember(v, value) }
	p := piece{kind: k, file: file}
	p.install = edits(func(j *setup.JSON) error {
		switch there := j.Get(at...); {
		case there == nil:
			return j.Set(value, at...)
		case isOurs(there):
			return moveServer(j, value, at)
		}
		return fmt.Errorf("%s is set to something else", strings.Join(at, "."))
	})
	p.remove = takesOut(func(j *setup.JSON) {
		if isOurs(j.Get(at...)) {
			j.Remove(at...)
		}
	})
	p.present = finds(func(j *setup.JSON) bool { return j.Get(at...) != nil && isOurs(j.Get(at...)) })
	p.foreign = func(text []byte) []string {
		j, err := setup.ParseJSON(text)
		if err != nil || isOurs(j.Get(at...)) || !h.mentions(fmt.Sprint(j.Get(at...))) {
			return nil
		}
		return []string{strings.Join(at, ".")}
	}
	return p
}

// ownMember reports whether a member is one that init writes: its value, a server's entry that starts this program without
// arguments, or the name of the file with the secret in another state directory.
func (h home) ownMember(v, value any) bool {
	entry, _ := v.(map[string]any)
	switch command := entry["command"].(type) {
	case string:
		arguments, _ := entry["args"].([]any)
		return h.isProgram(command) && len(arguments) == 0
	case []any: // opencode
		program, _ := append(command, "")[0].(string)
		return h.isProgram(program) && len(command) == 1
	}
	if text, ok := v.(string); ok && value != any(text) {
		name, isFile := strings.CutPrefix(text, "{file:")
		wanted, _ := value.(string)
		return isFile && strings.HasPrefix(wanted, "{file:") && path.Base(strings.ReplaceAll(name, `\`, "/")) == path.Base(strings.ReplaceAll(wanted, `\`, "/"))
	}
	return fmt.Sprint(v) == fmt.Sprint(value)
}

// Lines before and after init's part of a TOML file.
const (
	tomlBegin = "# mcp-pruner init: begin\n"
	tomlEnd   = "# mcp-pruner init: end\n"
)

// tablePiece adds a table of our server at the end of a TOML file.
func (h home) tablePiece(file setup.File, member string) piece {
	table := member + ".pruner"
	block := tomlBegin + "[" + table + "]\ncommand = " + strconv.Quote(h.path) + "\n[" + table + ".env]\nPRUNER_URL = \"embedded\"\n" + tomlEnd
	return piece{
		kind: mcp, file: file,
		install: func(text []byte) ([]byte, error) { return addTOML(file.Syntax, text, member, block) },
		remove:  removeTOML,
		present: func(text []byte) bool { return bytes.Contains(text, []byte(tomlBegin)) },
	}
}

func addTOML(syntax setup.Syntax, text []byte, member, block string) ([]byte, error) {
	if bytes.Contains(text, []byte(tomlBegin)) {
		return moveTable(text, block), nil
	}
	data, err := syntax.Decode(text)
	if err != nil {
		return nil, err
	}
	all, _ := data.(map[string]any)
	servers, _ := all[member].(map[string]any)
	if servers["pruner"] != nil {
		return nil, errors.New(member + ".pruner is there already")
	}
	lead := ""
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		lead = "\n"
	}
	after := append(bytes.Clone(text), lead+block...)
	key := regexp.MustCompile(`(?m)^[ \t]*["']?` + member + `["']?[ \t]*=`) // the start of a value
	if at := key.FindIndex(text); at != nil {
		if _, err := syntax.Decode(after); err != nil {
			return nil, fmt.Errorf("line %d: %s is an inline table, to which nothing can be added: write its servers as tables, [%s.NAME]",
				1+bytes.Count(text[:at[0]], []byte("\n")), member, member)
		}
	}
	return after, nil
}

func removeTOML(text []byte) ([]byte, error) {
	before, rest, ok := bytes.Cut(text, []byte(tomlBegin))
	if !ok {
		return text, nil
	}
	_, after, ok := bytes.Cut(rest, []byte(tomlEnd))
	if !ok {
		return nil, errors.New("the line \"" + strings.TrimSpace(tomlEnd) + "\" is missing; remove our table by hand")
	}
	return append(bytes.Clone(before), after...), nil
}

var tableCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^command = .*$`) })

// moveTable changes the command in the part of a TOML file that init wrote.
func moveTable(text []byte, block string) []byte {
	start := bytes.Index(text, []byte(tomlBegin))
	end := bytes.Index(text, []byte(tomlEnd))
	if end < start {
		return text
	}
	command := tableCommand().FindString(block)
	moved := tableCommand().ReplaceAllLiteral(text[start:end], []byte(command))
	return bytes.Join([][]byte{text[:start], moved, text[end:]}, nil)
}
