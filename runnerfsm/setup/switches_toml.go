package setup

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// tomlMark ends the lines that switches add to a TOML file.
const tomlMark = " # mcp-pruner context"

// tomlOn adds a switch to a text: a line in its table, a new table at the end, or at the top where the table's keys are
// written with dots.
func tomlOn(text []byte, s agent.Switch) ([]byte, error) {
	data := map[string]any{}
	if err := toml.Unmarshal(text, &data); err != nil {
		return nil, err
	}
	table, key := s.Path[:len(s.Path)-1], s.Path[len(s.Path)-1]
	there, blocked := tomlGet(data, s.Path)
	if blocked != nil {
		return nil, blocked
	}
	lines := tomlLines(text)
	switch {
	case s.List:
		if list, _ := there.([]any); slices.ContainsFunc(list, func(e any) bool { return reflect.DeepEqual(e, s.Value) }) {
			return text, nil
		}
		return lines.appended(append([]string{"[[" + dotted(s.Path) + "]]"}, tomlMembers(s.Value)...)), nil
	case there != nil && reflect.DeepEqual(there, s.Value):
		return text, nil
	case there != nil:
		return nil, &Occupied{s.Path, there}
	}
	line := dotted([]string{key}) + " = " + tomlValue(s.Value)
	if at := lines.header(table); at >= 0 {
		return lines.inserted(at+1, line), nil
	}
	if len(table) == 0 || lines.dotted(table[0]) {
		return lines.inserted(0, dotted(s.Path)+" = "+tomlValue(s.Value)), nil
	}
	return lines.appended([]string{"[" + dotted(table) + "]", line}), nil
}

// tomlOff removes the lines that tomlOn added for a switch, and the table that it added if nothing else is in it.
func tomlOff(text []byte, s agent.Switch) ([]byte, error) {
	lines := tomlLines(text)
	ours := func(i int, want string) bool {
		return i >= 0 && i < len(lines.list) && strings.TrimRight(lines.list[i], "\r\n") == want+tomlMark
	}
	if s.List {
		block := append([]string{"[[" + dotted(s.Path) + "]]"}, tomlMembers(s.Value)...)
		for i := range lines.list {
			whole := true
			for k, want := range block {
				whole = whole && ours(i+k, want)
			}
			if whole {
				return lines.without(i, len(block)), nil
			}
		}
		return text, nil
	}
	table, key := s.Path[:len(s.Path)-1], s.Path[len(s.Path)-1]
	for i := range lines.list {
		top := ours(i, dotted(s.Path)+" = "+tomlValue(s.Value))
		if !top && (!ours(i, dotted([]string{key})+" = "+tomlValue(s.Value)) || !slices.Equal(lines.tableAt(i), table)) {
			continue
		}
		if !top && ours(i-1, "["+dotted(table)+"]") && lines.ends(i+1) {
			return lines.without(i-1, 2), nil
		}
		return lines.without(i, 1), nil
	}
	return text, nil
}

// tomlGet returns the value at a path. It is an *Occupied if something on the way is not a table.
func tomlGet(data map[string]any, path []string) (any, error) {
	var value any = data
	for i, name := range path {
		table, ok := value.(map[string]any)
		if !ok {
			return nil, &Occupied{path[:i], value}
		}
		if value, ok = table[name]; !ok {
			return nil, nil
		}
	}
	return value, nil
}

// dotted writes a path as a key.
func dotted(path []string) string {
	keys := make([]string, len(path))
	for i, name := range path {
		keys[i] = name
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			keys[i] = strconv.Quote(name)
		}
	}
	return strings.Join(keys, ".")
}

func tomlValue(v any) string {
	if text, ok := v.(string); ok {
		return strconv.Quote(text)
	}
	return fmt.Sprint(v)
}

// tomlMembers writes the members of a table, in order.
func tomlMembers(v any) (lines []string) {
	table, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		lines = append(lines, dotted([]string{name})+" = "+tomlValue(table[name]))
	}
	return lines
}

// tomlText is a text by lines.
type tomlText struct {
	list []string
	end  string   // of each line
	head []string // the lines again, those within a text of several lines as ""
}

func tomlLines(text []byte) tomlText {
	t := tomlText{list: slices.Collect(strings.Lines(string(text))), end: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		t.end = "\r\n"
	}
	open := ""
	for _, line := range t.list {
		within := open != ""
		for _, quotes := range []string{`"""`, "'''"} {
			if (open == "" || open == quotes) && strings.Count(line, quotes)%2 == 1 {
				open = map[bool]string{true: quotes}[open == ""]
			}
		}
		if within {
			line = ""
		}
		t.head = append(t.head, line)
	}
	return t
}

// headerOf returns the path in a table's header, nil for another line.
func headerOf(line string) []string {
	trimmed := strings.TrimSpace(line)
	if !strings.HasPrefix(trimmed, "[") || strings.HasPrefix(trimmed, "[[") {
		return nil
	}
	data := map[string]any{}
	if toml.Unmarshal([]byte(trimmed), &data) != nil {
		return nil
	}
	var path []string
	for len(data) == 1 {
		for name, inner := range data {
			path = append(path, name)
			data, _ = inner.(map[string]any)
		}
	}
	return path
}

func isHeader(line string) bool {
	trimmed := strings.TrimSpace(line)
	return headerOf(line) != nil || strings.HasPrefix(trimmed, "[[")
}

// header returns the line of a table's header, -1 if it has none.
func (t tomlText) header(table []string) int {
	if len(table) == 0 {
		return -1
	}
	return slices.IndexFunc(t.head, func(line string) bool { return slices.Equal(headerOf(line), table) })
}

// tableAt returns the table that a line is in.
func (t tomlText) tableAt(i int) []string {
	for ; i >= 0; i-- {
		if isHeader(t.head[i]) {
			return headerOf(t.head[i])
		}
	}
	return nil
}

// dotted reports whether keys before the first table begin with a name and a dot.
func (t tomlText) dotted(name string) bool {
	for _, line := range t.head {
		if isHeader(line) {
			return false
		}
		if strings.HasPrefix(strings.TrimSpace(line), name+".") {
			return true
		}
	}
	return false
}

// ends reports whether a table ends before a line.
func (t tomlText) ends(i int) bool {
	for ; i < len(t.list); i++ {
		if strings.TrimSpace(t.list[i]) != "" {
			return isHeader(t.head[i])
		}
	}
	return true
}

func (t tomlText) inserted(at int, line string) []byte {
	before := strings.Join(t.list[:at], "")
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += t.end
	}
	return []byte(before + line + tomlMark + t.end + strings.Join(t.list[at:], ""))
}

// appended adds lines at the end, after a blank one.
func (t tomlText) appended(lines []string) []byte {
	text := strings.Join(t.list, "")
	if text != "" {
		if !strings.HasSuffix(text, "\n") {
			text += t.end
		}
		text += t.end
	}
	for _, line := range lines {
		text += line + tomlMark + t.end
	}
	return []byte(text)
}

// without removes lines, and the blank line before a table that goes.
func (t tomlText) without(from, count int) []byte {
	if isHeader(t.head[from]) && from > 0 && strings.TrimSpace(t.list[from-1]) == "" {
		from, count = from-1, count+1
	}
	return []byte(strings.Join(slices.Delete(slices.Clone(t.list), from, from+count), ""))
}
