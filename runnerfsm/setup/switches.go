package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Occupied says that a file has another value where a switch would be: its user has decided.
type Occupied struct {
	Path  []string
	Value any
}

func (o *Occupied) Error() string {
	value, _ := json.Marshal(o.Value) // decoded from a file
	return fmt.Sprintf("%s is %s there already", strings.Join(o.Path, "."), value)
}

// SwitchOn returns a text with a switch. A text that has it already is returned as it is. The error is an *Occupied if the
// text has another value in its place.
func (f File) SwitchOn(text []byte, s agent.Switch) ([]byte, error) {
	if f.Syntax.Format == agent.TOML {
		return tomlOn(text, s)
	}
	j, err := ParseJSON(text)
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(s.Path); i++ {
		if there := j.Get(s.Path[:i]...); there != nil {
			if _, ok := there.(map[string]any); !ok {
				return nil, &Occupied{s.Path[:i], there}
			}
		}
	}
	there := j.Get(s.Path...)
	switch {
	case !s.List && there != nil:
		if reflect.DeepEqual(there, s.Value) {
			return text, nil
		}
		return nil, &Occupied{s.Path, there}
	case !s.List:
		err = j.Set(s.Value, s.Path...)
		return j.Bytes(), err
	}
	list, isList := there.([]any)
	if there != nil && !isList {
		return nil, &Occupied{s.Path, there}
	}
	if slices.ContainsFunc(list, func(element any) bool { return reflect.DeepEqual(element, s.Value) }) {
		return text, nil
	}
	err = j.Append(s.Value, s.Path...)
	return j.Bytes(), err
}

// SwitchOff returns a text without a switch. A value that somebody has changed since stays.
func (f File) SwitchOff(text []byte, s agent.Switch) ([]byte, error) {
	if f.Syntax.Format == agent.TOML {
		return tomlOff(text, s)
	}
	j, err := ParseJSON(text)
	if err != nil {
		return nil, err
	}
	is := func(v any) bool { return reflect.DeepEqual(v, s.Value) }
	switch {
	case s.List:
		if j.RemoveElements(is, s.Path...) == 0 {
			return text, nil
		}
	case !is(j.Get(s.Path...)) || !j.Remove(s.Path...):
		return text, nil
	}
	return j.Bytes(), nil
}

// Restore gives the file the content before a change, nil if there was no file, if it still has the content now.
func (f File) Restore(now, before []byte) error {
	if err := f.changeable(); err != nil {
		return err
	}
	if before != nil {
		return f.write(now, before)
	}
	if there, err := f.Read(); err != nil || !bytes.Equal(there, now) {
		return errors.Join(err, errChanged)
	}
	return os.Remove(f.Path)
}
