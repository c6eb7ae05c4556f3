package initcmd

import (
	"bytes"
	"errors"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"reflect"
)

// check compares a file before and after the piece was installed, as its client reads it: the piece is there, and
// without it nothing differs.
func (p piece) check(before, after []byte) error {
	if again, err := p.install(after); err != nil || !bytes.Equal(again, after) {
		return errors.Join(err, errors.New("the change would not be found again"))
	}
	was, err := p.others(before)
	if err != nil {
		return err
	}
	is, err := p.others(after)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(was, is) {
		return errors.New("the change would alter other settings")
	}
	return nil
}

// others returns the data of a file without the piece. Empty objects and lists do not count, because the piece may be the
// first in them.
func (p piece) others(text []byte) (any, error) {
	if text == nil {
		return nil, nil
	}
	text, err := p.remove(text)
	if err != nil {
		return nil, err
	}
	data, err := p.file.Syntax.Decode(text)
	return setup.Filled(data), err
}
