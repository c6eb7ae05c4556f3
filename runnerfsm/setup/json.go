// Package setup edits the configuration files of clients. Everything else in them stays as it is, including
// comments, order and white space.
package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// JSON is a parsed JSON or JSONC file.
type JSON struct {
	root   hujson.Value
	indent string // of one level; "": everything on one line
}

// ParseJSON parses a file. An empty file counts as an empty object.
func ParseJSON(text []byte) (*JSON, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("want a JSON object")
	}
	j := &JSON{root: root, indent: "  "}
	if len(object.Members) > 0 {
		before := string(object.Members[0].Name.BeforeExtra)
		at := strings.LastIndexByte(before, '\n')
		if at < 0 {
			j.indent = ""
		} else if before[at+1:] != "" {
			j.indent = before[at+1:]
		}
	}
	return j, nil
}

// maxBrackets is the number of arrays and objects in a file. hujson calls itself for each level of nesting, and millions of
// levels would overflow the stack.
const maxBrackets = 1 << 19

// parse parses JSON with comments and trailing commas.
func parse(text []byte) (hujson.Value, error) {
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxBrackets {
		return hujson.Value{}, fmt.Errorf("it has more than %d brackets", maxBrackets)
	}
	return hujson.Parse(text)
}

// Bytes returns the file with all changes.
func (j *JSON) Bytes() []byte { return j.root.Pack() }

// Get decodes the value at a path. It returns nil if there is none.
func (j *JSON) Get(path ...string) any {
	v := j.find(path)
	if v == nil {
		return nil
	}
	value, _ := decode(v)
	return value
}

func decode(v *hujson.Value) (value any, ok bool) {
	copied := v.Clone()
	copied.Standardize()
	ok = json.Unmarshal(copied.Pack(), &value) == nil
	return value, ok
}

// SetText replaces the value at a path by one written as JSON.
func (j *JSON) SetText(text string, path ...string) error {
	v := j.find(path)
	if v == nil {
		return fmt.Errorf("%s is not there", strings.Join(path, "."))
	}
	parsed, err := parse([]byte(text))
	if err != nil {
		return err
	}
	v.Value = parsed.Value
	return nil
}

// find returns the value at a path. In an array a name is an index.
func (j *JSON) find(path []string) *hujson.Value {
	v := &j.root
	for _, name := range path {
		if array, ok := v.Value.(*hujson.Array); ok {
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(array.Elements) {
				return nil
			}
			v = &array.Elements[i]
			continue
		}
		object, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil
		}
		i := member(object, name)
		if i < 0 {
			return nil
		}
		v = &object.Members[i].Value
	}
	return v
}

func member(object *hujson.Object, name string) int {
	for i := len(object.Members) - 1; i >= 0; i-- { // of equal names, every client takes the last
		if literal, ok := object.Members[i].Name.Value.(hujson.Literal); ok && literal.String() == name {
			return i
		}
	}
	return -1
}

// Set adds a member to the object at a path, and creates missing objects along the path. It is an error if a value on
// the path is not an object.
func (j *JSON) Set(value any, path ...string) error {
	depth := len(path) - 1
	object, err := j.object(path[:depth])
	if err != nil {
		return err
	}
	name := path[depth]
	if member(object, name) >= 0 {
		return fmt.Errorf("%s is there already", strings.Join(path, "."))
	}
	return j.addMember(object, name, value, depth)
}

// Append adds an element to the array at a path.
func (j *JSON) Append(value any, path ...string) error {
	if j.find(path) == nil {
		return j.Set([]any{value}, path...)
	}
	array, ok := j.find(path).Value.(*hujson.Array)
	if !ok {
		return fmt.Errorf("%s is not an array", strings.Join(path, "."))
	}
	v, err := j.encode(value, len(path)+1)
	if err != nil {
		return err
	}
	var last *hujson.Value
	if n := len(array.Elements); n > 0 {
		last = &array.Elements[n-1]
	}
	v.BeforeExtra, v.AfterExtra, array.AfterExtra = j.joint(last, array.AfterExtra, len(path))
	array.Elements = append(array.Elements, v)
	return nil
}

// object finds or creates the object at a path.
func (j *JSON) object(path []string) (*hujson.Object, error) {
	object := j.root.Value.(*hujson.Object) // see ParseJSON
	for i, name := range path {
		at := member(object, name)
		if at < 0 {
			if err := j.addMember(object, name, map[string]any{}, i); err != nil {
				return nil, err
			}
			at = member(object, name)
		}
		var ok bool
		if object, ok = object.Members[at].Value.Value.(*hujson.Object); !ok {
			return nil, fmt.Errorf("%s is not an object", strings.Join(path[:i+1], "."))
		}
	}
	return object, nil
}

func (j *JSON) addMember(object *hujson.Object, name string, value any, depth int) error {
	v, err := j.encode(value, depth+1)
	if err != nil {
		return err
	}
	added := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: v}
	if j.indent != "" {
		added.Value.BeforeExtra = []byte(" ")
	}
	var last *hujson.Value
	if n := len(object.Members); n > 0 {
		last = &object.Members[n-1].Value
	}
	added.Name.BeforeExtra, added.Value.AfterExtra, object.AfterExtra = j.joint(last, object.AfterExtra, depth)
	object.Members = append(object.Members, added)
	return nil
}

// lead returns the white space before a member at a depth.
func (j *JSON) lead(depth int) []byte {
	if j.indent == "" {
		return nil
	}
	return []byte("\n" + strings.Repeat(j.indent, depth))
}

// joint returns the white space and comments before and after an element that is added at the end of a list, and
// those before the closing bracket. Comments after the previous last element stay after it. A list with a trailing
// comma keeps one.
func (j *JSON) joint(last *hujson.Value, closing hujson.Extra, depth int) (before, after, rest hujson.Extra) {
	switch {
	case last == nil && bytes.IndexByte(closing, '\n') >= 0:
		return j.lead(depth + 1), nil, closing
	case last == nil:
		return append(bytes.Clone(closing), j.lead(depth+1)...), nil, j.lead(depth)
	case last.AfterExtra != nil:
		after = hujson.Extra{}
	}
	at := bytes.LastIndexByte(closing, '\n')
	if at < 0 {
		return j.lead(depth + 1), after, closing
	}
	return append(bytes.Clone(closing[:at]), j.lead(depth+1)...), after, closing[at:]
}

// parted reverses joint. It returns the white space and comments before the closing bracket after the last element
// was removed.
func parted(previous *hujson.Value, before, after, closing hujson.Extra) hujson.Extra {
	if after != nil && previous.AfterExtra == nil {
		previous.AfterExtra = hujson.Extra{}
	}
	if at := bytes.LastIndexByte(before, '\n'); at > 0 {
		return append(bytes.Clone(before[:at]), closing...)
	}
	return closing
}

func (j *JSON) encode(value any, depth int) (hujson.Value, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if j.indent != "" {
		enc.SetIndent(strings.Repeat(j.indent, depth), j.indent)
	}
	if err := enc.Encode(value); err != nil {
		return hujson.Value{}, err
	}
	return hujson.Parse(bytes.TrimSpace(text.Bytes()))
}

// RemoveElements removes the matching elements of the array at a path, and returns their number. It also removes
// arrays and objects that become empty, up to the path's first name.
func (j *JSON) RemoveElements(matches func(any) bool, path ...string) int {
	v := j.find(path)
	if v == nil {
		return 0
	}
	array, ok := v.Value.(*hujson.Array)
	if !ok {
		return 0
	}
	removed := 0
	for i := len(array.Elements) - 1; i >= 0; i-- {
		if element, ok := decode(&array.Elements[i]); !ok || !matches(element) {
			continue
		}
		if i == len(array.Elements)-1 && i > 0 {
			array.AfterExtra = parted(&array.Elements[i-1], array.Elements[i].BeforeExtra, array.Elements[i].AfterExtra, array.AfterExtra)
		}
		array.Elements = append(array.Elements[:i], array.Elements[i+1:]...)
		removed++
	}
	if removed > 0 && len(array.Elements) == 0 {
		j.Remove(path...)
	}
	return removed
}

// Remove removes a member, and the enclosing objects that become empty. A second member of the same name, which clients
// do not see, goes with it.
func (j *JSON) Remove(path ...string) bool {
	parent := j.find(path[:len(path)-1])
	if parent == nil {
		return false
	}
	object, ok := parent.Value.(*hujson.Object)
	if !ok {
		return false
	}
	i := member(object, path[len(path)-1])
	if i < 0 {
		return false
	}
	if i == len(object.Members)-1 && i > 0 {
		gone := object.Members[i]
		object.AfterExtra = parted(&object.Members[i-1].Value, gone.Name.BeforeExtra, gone.Value.AfterExtra, object.AfterExtra)
	}
	object.Members = append(object.Members[:i], object.Members[i+1:]...)
	if member(object, path[len(path)-1]) >= 0 {
		return j.Remove(path...)
	}
	if len(object.Members) == 0 {
		object.AfterExtra = nil
		if len(path) > 1 {
			j.Remove(path[:len(path)-1]...)
		}
	}
	return true
}
