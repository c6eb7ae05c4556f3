package wrap

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/tailscale/hujson"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// span is a part of a text: the offsets of its first byte and of the one after its last.
type span struct{ from, to int }

// place is where a server's command stands in the text of a configuration.
type place struct {
	command span   // the value; of a client whose command is a list: none
	args    span   // the list of arguments, or the command that is a list, between its brackets; from 0: there is none
	words   []span // the elements of the list
	key     span   // what stands before the command's value, from the key on
	argsKey string // how the list's key is written
	between string // what parts the two
}

// errForm says that an entry is written in a way that cannot be edited.
var errForm = errors.New("its command is written in a form that cannot be changed; change it by hand (docs/GATEWAY.md)")

// splice is a part of a text and what takes its place.
type splice struct {
	span
	text string
}

// spliced returns a text with its parts replaced.
func spliced(text []byte, splices ...splice) []byte {
	slices.SortFunc(splices, func(a, b splice) int { return b.from - a.from }) // the last first
	for _, s := range splices {
		text = slices.Concat(text[:s.from], []byte(s.text), text[s.to:])
	}
	return text
}

// wrapped returns a text in which the server is started by a program.
func (p place) wrapped(text []byte, program string) []byte {
	start := strconv.Quote(program)
	list := ""
	for _, word := range words {
		list += strconv.Quote(word) + ", "
	}
	if p.command.to == 0 { // a list
		return spliced(text, splice{span{p.args.from, p.args.from}, start + ", " + list})
	}
	list += string(text[p.command.from:p.command.to])
	replaced := splice{p.command, start}
	switch {
	case p.args.from == 0:
		return spliced(text, replaced, splice{span{p.key.from, p.key.from}, p.argsKey + "[" + list + "]" + p.between})
	case len(p.words) > 0 && text[p.args.from] != '\n' && text[p.args.from] != '\r':
		list += ", "
	case len(p.words) > 0:
		list += ","
	}
	return spliced(text, replaced, splice{span{p.args.from, p.args.from}, list})
}

// unwrapped is the reverse of wrapped.
func (p place) unwrapped(text []byte) []byte {
	at := slices.IndexFunc(p.words, func(s span) bool {
		word := text[s.from:s.to]
		return len(word) == 4 && string(word[1:3]) == "--"
	})
	if p.command.to == 0 {
		return spliced(text, splice{span{p.args.from, p.words[at+1].from}, ""})
	}
	command := p.words[at+1]
	gone := span{p.args.from, command.to}
	rest := text[command.to:p.args.to]
	if after, more := bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte(",")); more {
		gone.to = p.args.to - len(bytes.TrimPrefix(after, []byte(" ")))
	}
	return spliced(text, splice{p.command, string(text[command.from:command.to])}, splice{gone, ""})
}

// find returns where the command of a server stands.
func (l List) find(text []byte, name string) (place, error) {
	path := []string{l.Client.Servers.Member, name}
	if l.File.Syntax.Format == agent.TOML {
		return findTOML(text, path)
	}
	return findJSON(text, path)
}

func findJSON(text []byte, path []string) (place, error) {
	v, err := hujson.Parse(text)
	if err != nil {
		return place{}, err
	}
	at := &v
	for _, name := range path {
		if m := memberOf(at, name); m == nil {
			return place{}, errForm
		} else {
			at = &m.Value
		}
	}
	command, args := memberOf(at, "command"), memberOf(at, "args")
	if command == nil {
		return place{}, errForm
	}
	if _, list := command.Value.Value.(*hujson.Array); list {
		p := place{}
		return p, p.setList(&command.Value)
	}
	p := place{command: span{command.Value.StartOffset, command.Value.EndOffset}, argsKey: `"args": `, between: ", "}
	p.key = span{command.Name.StartOffset, command.Value.StartOffset}
	if white := command.Name.BeforeExtra; len(white) > 0 && len(bytes.TrimSpace(white)) == 0 {
		p.between = "," + string(white)
	}
	if args != nil {
		return p, p.setList(&args.Value)
	}
	return p, nil
}

// setList notes where a list of JSON is.
func (p *place) setList(v *hujson.Value) error {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return errForm
	}
	p.args = span{v.StartOffset + 1, v.EndOffset - 1}
	for _, e := range list.Elements {
		p.words = append(p.words, span{e.StartOffset, e.EndOffset})
	}
	return nil
}

// memberOf returns the last member of an object with a name, which is the one that counts.
func memberOf(v *hujson.Value, name string) (found *hujson.ObjectMember) {
	object, _ := v.Value.(*hujson.Object)
	if object == nil {
		return nil
	}
	for i := range object.Members {
		m := &object.Members[i]
		var written string
		if literal, ok := m.Name.Value.(hujson.Literal); ok && json.Unmarshal(literal, &written) == nil && written == name {
			found = m
		}
	}
	return found
}

// findTOML looks for the keys command and args of a table, however the table is written.
func findTOML(text []byte, path []string) (place, error) {
	p := place{}
	parser := unstable.Parser{}
	parser.Reset(text)
	var table []string
	for parser.NextExpression() {
		switch e := parser.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = keysOf(e.Key())
		case unstable.KeyValue:
			p.takeTOML(text, e, table, path, false)
		}
	}
	if err := parser.Error(); err != nil {
		return p, err
	}
	if p.command.to == 0 {
		return p, errForm
	}
	return p, nil
}

// takeTOML notes where a key and its value are, if they are the command or the arguments of the server.
func (p *place) takeTOML(text []byte, e *unstable.Node, table, path []string, inline bool) {
	key := slices.Concat(table, keysOf(e.Key()))
	value := e.Value()
	if value.Kind == unstable.InlineTable {
		for inner := value.Children(); inner.Next(); {
			p.takeTOML(text, inner.Node(), key, path, true)
		}
		return
	}
	if len(key) != len(path)+1 || !slices.Equal(key[:len(path)], path) {
		return
	}
	first, last := span{}, span{}
	for k := e.Key(); k.Next(); {
		last = spanOf(k.Node())
		if first.to == 0 {
			first = last
		}
	}
	switch key[len(path)] {
	case "command":
		p.command, p.key = spanOf(value), span{first.from, last.from}
		p.argsKey, p.between = string(text[first.from:last.from])+"args = ", ", "
		if line := bytes.LastIndexByte(text[:first.from], '\n') + 1; !inline {
			p.between = "\n" + string(text[line:first.from])
			if bytes.Contains(text, []byte("\r\n")) {
				p.between = "\r" + p.between
			}
		}
	case "args":
		if value.Kind != unstable.Array {
			return
		}
		open := last.to + bytes.IndexByte(text[last.to:], '[') + 1
		p.args = span{open, open}
		for word := value.Children(); word.Next(); {
			p.words = append(p.words, spanOf(word.Node()))
			p.args.to = p.words[len(p.words)-1].to
		}
		p.args.to += bytes.IndexByte(text[p.args.to:], ']') // behind the last word there are at most a comma and comments
	}
}

func spanOf(n *unstable.Node) span { return span{int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length)} }

func keysOf(keys unstable.Iterator) (names []string) {
	for keys.Next() {
		names = append(names, string(keys.Node().Data))
	}
	return names
}
