// Package page is the one page of HTML that the program shows: its markup, its stylesheet and its script. A server feeds it
// live, and a standing copy carries its model as JSON in the page itself. Either way the page may load nothing from anywhere
// else: its policy names the hashes of its own style and script, and forbids everything that is not needed.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"strings"
	"sync"
)

//go:embed page.html page.css parts/*.js
var files embed.FS

// scripts are the parts of the script, in order. Together they are one function.
var scripts = []string{"base", "list", "chart", "sessions", "events", "prefix", "trace", "replay", "start"}

// MaxBytes is the size of the largest page, without a model.
const MaxBytes = 120_000

// Model has the data of a page. Each member that is set is a tab. The page computes everything else.
type Model struct {
	Title string `json:"title"`
	About string `json:"about,omitempty"` // one line below the title
	Live  bool   `json:"live,omitempty"`  // a server answers the page's questions
	Texts bool   `json:"texts,omitempty"` // the page holds texts of outputs

	Sessions any            `json:"sessions,omitempty"`
	Windows  map[string]any `json:"windows,omitempty"` // of a standing copy, by session
	Cuts     map[string]any `json:"cuts,omitempty"`    // of a standing copy with texts, by session and id
	Prefix   any            `json:"prefix,omitempty"`
	Trace    any            `json:"trace,omitempty"`
	Replay   any            `json:"replay,omitempty"`
}

// Write writes a standing copy.
func Write(out io.Writer, m Model) error {
	data, err := json.Marshal(m) // escapes <, > and &, so that no text ends the element
	if err != nil {
		return fmt.Errorf("page %q: %w", m.Title, err)
	}
	_, err = io.WriteString(out, document(m.Title, Policy(false), string(data)))
	return err
}

// Live returns the page that asks the server from which it came for its model.
func Live(title string) []byte { return []byte(document(title, Policy(true), "")) }

// Policy returns the page's Content-Security-Policy.
func Policy(live bool) string {
	policy := "default-src 'none'; style-src '" + sum(style()) + "'; script-src '" + sum(script()) + "'; img-src data:; base-uri 'none'; "
	if live {
		return policy + "connect-src 'self'; form-action 'self'"
	}
	return policy + "form-action 'none'"
}

// sum returns the source of a policy that permits a style or a script with that text.
func sum(text string) string {
	hash := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(hash[:])
}

func document(title, policy, data string) string {
	if data != "" {
		data = `<script type="application/json" id="data">` + data + "</script>\n"
	}
	return strings.NewReplacer(
		"{title}", html.EscapeString(title), "{policy}", html.EscapeString(policy), "{style}", style(), "{data}", data, "{script}", script(),
	).Replace(file("page.html"))
}

var (
	style  = sync.OnceValue(func() string { return file("page.css") })
	script = sync.OnceValue(func() string {
		var b strings.Builder
		b.WriteString("'use strict';\n(() => {\n")
		for _, name := range scripts {
			b.WriteString(file("parts/" + name + ".js"))
		}
		b.WriteString("})();\n")
		return b.String()
	})
)

func file(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// File is the place of a standing copy.
type File struct {
	Name   string // "-": the standard output
	Stdout io.Writer
}

// Write writes the copy. Only its owner can read the file, for it may hold names, commands and texts of the owner's work.
func (f File) Write(m Model) error {
	if f.Name == "-" {
		return Write(f.Stdout, m)
	}
	out, err := os.OpenFile(f.Name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if info, err := out.Stat(); err == nil && info.Mode().IsRegular() { // it may have been there, for others to read
		err = out.Chmod(0o600)
		if err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return errors.Join(Write(out, m), out.Close())
}
