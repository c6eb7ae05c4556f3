package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// Syntax is how a client reads one of its files.
type Syntax struct {
	Client string // as in messages: "Claude Code"
	Format agent.Format
}

// decoders return a file's data by its format: maps, slices and scalars. An error is an *Unreadable.
var decoders = map[agent.Format]func([]byte) (any, error){
	agent.StrictJSON: strictJSON, agent.HooksJSON: hooksJSON, agent.CommentedJSON: commentedJSON, agent.JSONC: jsonc, agent.TOML: decodeTOML,
}

// Unreadable is a file that its client cannot read.
type Unreadable struct {
	Client string
	Line   int // the first line that is wrong, from 1
	Why    string
}

func (u *Unreadable) Error() string {
	return fmt.Sprintf("cannot be read by %s: line %d: %s", u.Client, u.Line, u.Why)
}

// Decode returns the data that the client finds in a file, as maps, slices and scalars. An empty file has none: nil. The
// error is an *Unreadable. agent.AnyText accepts every text.
func (s Syntax) Decode(text []byte) (any, error) {
	if s.Format == agent.AnyText || len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	if bytes.HasPrefix(text, bom) {
		return nil, &Unreadable{s.Client, 1, "a byte order mark, which not every program can read: save the file as UTF-8 without it"}
	}
	data, err := decoders[s.Format](text)
	if u, ok := errors.AsType[*Unreadable](err); ok {
		u.Client = s.Client
		return nil, u
	}
	if _, ok := data.(map[string]any); !ok && err == nil {
		err = &Unreadable{s.Client, 1 + bytes.Count(text[:len(text)-len(bytes.TrimLeft(text, " \t\r\n"))], newline), "want an object, { ... }"}
	}
	return data, err
}

var (
	bom     = []byte("\ufeff")
	newline = []byte("\n")
)

// strictJSON reads JSON without comments and trailing commas, as JSON.parse does.
func strictJSON(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var data any
	err := json.Unmarshal(text, new(json.RawMessage))
	if err == nil {
		return data, dec.Decode(&data)
	}
	at := len(text)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && syntax.Offset > 0 {
		at = int(min(syntax.Offset-1, int64(len(text))))
	}
	u := &Unreadable{Line: lineAt(text, at), Why: err.Error()}
	if _, failed := parse(bytes.Clone(text)); failed == nil && at < len(text) { // JSON but for comments and commas
		switch text[at] {
		case '/':
			u.Why = "a comment, which it does not accept in this file"
		case ']', '}':
			u.Line = lineAt(text, bytes.LastIndexByte(text[:at], ','))
			u.Why = "a comma after which nothing follows, which it does not accept in this file"
		}
	}
	return nil, u
}

func lineAt(text []byte, at int) int { return 1 + bytes.Count(text[:at], newline) }

// hooksJSON reads Codex's hooks.json: strict JSON in UTF-8 without repeated and unknown members.
func hooksJSON(text []byte) (any, error) {
	if !utf8.Valid(text) {
		at := 0
		for at < len(text) {
			r, n := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		return nil, &Unreadable{Line: lineAt(text, at), Why: "it is not UTF-8"}
	}
	data, err := strictJSON(text)
	if err != nil {
		return nil, err
	}
	members, _ := data.(map[string]any)
	for name := range members {
		if name != "hooks" && name != "description" {
			return nil, &Unreadable{Line: lineOf(text, name), Why: fmt.Sprintf("%q, but only \"hooks\" and \"description\" may stand in this file", name)}
		}
	}
	if name, at := repeated(text); name != "" {
		return nil, &Unreadable{Line: lineAt(text, at), Why: fmt.Sprintf("%q a second time", name)}
	}
	return data, nil
}

// lineOf returns the line of a name's first occurrence in quotes.
func lineOf(text []byte, name string) int {
	return lineAt(text, max(bytes.Index(text, []byte(strconv.Quote(name))), 0))
}

// repeated returns the first name that stands twice in an object of a JSON text, and where the second one stands.
func repeated(text []byte) (name string, at int) {
	type member struct {
		object int32
		name   string
	}
	seen := map[member]bool{}
	for _, v := range jsonspan.Find(text) {
		if v.Member == v.Start {
			continue // of an array, or the whole
		}
		m := member{v.Parent, v.Name(text)}
		if seen[m] {
			return m.name, int(v.Member)
		}
		seen[m] = true
	}
	return "", 0
}

// commentedJSON reads JSON with comments but without trailing commas, as strip-json-comments and JSON.parse do.
func commentedJSON(text []byte) (any, error) { return strictJSON(blankComments(text)) }

// blankComments replaces comments by spaces, so that everything else stays where it is.
func blankComments(text []byte) []byte {
	out := bytes.Clone(text)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	for i := 0; i < len(text); {
		end := i + 1
		switch {
		case text[i] == '"':
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end++
		case bytes.HasPrefix(text[i:], []byte("//")):
			end = after(text, i, "\n")
			blank(i, end)
		case bytes.HasPrefix(text[i:], []byte("/*")):
			end = after(text, i+2, "*/")
			blank(i, end)
		}
		i = end
	}
	return out
}

// after returns the offset after the next occurrence of a string, or the text's length.
func after(text []byte, from int, s string) int {
	if at := bytes.Index(text[from:], []byte(s)); at >= 0 {
		return from + at + len(s)
	}
	return len(text)
}

var hujsonLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^hujson: line (\d+), column \d+: `) })

// jsonc reads JSON with comments and trailing commas.
func jsonc(text []byte) (any, error) {
	v, err := parse(bytes.Clone(text))
	if err != nil {
		u := &Unreadable{Line: 1, Why: err.Error()}
		if m := hujsonLine().FindStringSubmatch(u.Why); m != nil {
			u.Line, _ = strconv.Atoi(m[1])
			u.Why = u.Why[len(m[0]):]
		}
		return nil, u
	}
	v.Standardize()
	return strictJSON(v.Pack())
}

// decodeTOML reads TOML as strictly as Codex does, which refuses to start otherwise.
func decodeTOML(text []byte) (any, error) {
	data := map[string]any{}
	err := toml.Unmarshal(text, &data)
	if err == nil {
		return data, nil
	}
	u := &Unreadable{Line: 1, Why: strings.TrimPrefix(err.Error(), "toml: ")}
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		u.Line, _ = wrong.Position()
	}
	return nil, u
}

// Filled returns data without empty objects and lists, which come and go with an entry; nil if nothing is left.
func Filled(data any) any {
	switch data := data.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range data {
			if value = Filled(value); value != nil {
				out[name] = value
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case []any:
		if len(data) == 0 {
			return nil
		}
	}
	return data
}
