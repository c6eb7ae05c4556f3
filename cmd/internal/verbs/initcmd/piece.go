package initcmd

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
)

// kind is a kind of piece: something that init can add to a client's configuration.
type kind string

// The kinds.
const (
	hooks kind = "hooks"
	mcp   kind = "mcp"
	proxy kind = "proxy"

	// start makes the client's hooks start the proxy. It comes with proxy where the two are in different files.
	start kind = "start"

	// unit starts the proxy with the user's session. It comes with proxy where the client has no hook that can.
	unit kind = "unit"

	// rule lets the client's model run `mcp-pruner recover` without asking. It is written only if the user says so.
	rule kind = "rule"
)

// piece is one addition to one file.
type piece struct {
	kind    kind
	file    setup.File
	install func([]byte) ([]byte, error) // returns the same text if the piece is already installed
	remove  func([]byte) ([]byte, error)
	present func([]byte) bool
	program func([]byte) string   // hooks: the program that they start, or "" if init did not write the command
	address func([]byte) string   // proxy: where the client reaches it; nil: at proxyURL
	foreign func([]byte) []string // what mentions this program, is not what init writes, and stays; nil: nothing can
	note    string                // what the user must do in addition
	text    string                // rule: as a user would write it
}

// home finds the clients' configurations.
type home struct {
	setup.Home
	system string // as runtime.GOOS
	path   string // this program's path
	onPath bool   // a shell finds it as "mcp-pruner"
	tools  *tools // nil: those that the hooks have already, or all
}

// installed reports whether the client finds the piece in its configuration.
func (p piece) installed() bool {
	text, err := p.file.Read()
	return err == nil && text != nil && p.present(text)
}

// edits returns a change of a JSON file. If it has no effect, the file keeps its bytes.
func edits(change func(*setup.JSON) error) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		j, err := setup.ParseJSON(text)
		if err != nil {
			return nil, err
		}
		before := j.Bytes()
		if err := change(j); err != nil {
			return nil, err
		}
		if after := j.Bytes(); !bytes.Equal(before, after) {
			return after, nil
		}
		return text, nil
	}
}

// takesOut is edits for a change that cannot fail.
func takesOut(change func(*setup.JSON)) func([]byte) ([]byte, error) {
	return edits(func(j *setup.JSON) error {
		change(j)
		return nil
	})
}

// finds returns a question to a JSON file. The answer for one that cannot be read is no.
func finds(is func(*setup.JSON) bool) func([]byte) bool {
	return func(text []byte) bool {
		j, err := setup.ParseJSON(text)
		return err == nil && is(j)
	}
}

// filePiece is a whole file. ours reports whether init wrote it; one that it did not stays.
func filePiece(k kind, file setup.File, text string, ours func([]byte) bool) piece {
	return piece{
		kind: k, file: file, present: ours,
		install: func(now []byte) ([]byte, error) {
			if now != nil && !ours(now) {
				return nil, errors.New("the file is there already, and init did not write it: give it another name, or delete it")
			}
			return []byte(text), nil
		},
		remove: func([]byte) ([]byte, error) { return nil, nil },
		foreign: func(now []byte) []string {
			if ours(now) {
				return nil
			}
			return []string{"the whole file"}
		},
	}
}

// extended returns a piece with further edits of its file.
func extended(p piece, install, remove func([]byte) ([]byte, error)) piece {
	first, last := p.install, p.remove
	p.install = func(text []byte) ([]byte, error) {
		text, err := first(text)
		if err != nil {
			return nil, err
		}
		return install(text)
	}
	p.remove = func(text []byte) ([]byte, error) {
		text, err := remove(text)
		if err != nil {
			return nil, err
		}
		return last(text)
	}
	return p
}

// proxyPort is the port of the proxy that init sets up.
const proxyPort = 8787

// proxyURL is the address of the proxy that init sets up.
var proxyURL = fmt.Sprintf("http://127.0.0.1:%d", proxyPort)
