// Package notes keeps what hooks replaced: one line of JSON for each result. The verb gain reads them.
package notes

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// Note is one replaced result.
type Note struct {
	Time       time.Time `json:"time"`
	Client     string    `json:"client"`
	Session    string    `json:"session,omitempty"`
	Transcript string    `json:"transcript,omitempty"`
	Tool       string    `json:"tool,omitempty"`
	Call       string    `json:"call,omitempty"` // the client's id of the tool call
	About      string    `json:"about,omitempty"`
	ID         string    `json:"id,omitempty"` // id of the original
	Tokens     int       `json:"tokens,omitempty"`
	Sent       int       `json:"sent,omitempty"`
}

func file(dir string) string { return filepath.Join(dir, "hooks.jsonl") }

// Add appends a note in a state directory with a single write, so that concurrent hooks do not mix their lines. Errors are
// ignored: the notes must never cost a result.
func Add(dir string, n Note) {
	line, err := json.Marshal(n)
	if err != nil || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	f, err := os.OpenFile(file(dir), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(append(line, '\n'))
	_ = f.Close()
}

// Read returns the notes in a state directory and skips lines that were cut short.
func Read(dir string) []Note {
	f, err := os.Open(file(dir))
	if err != nil {
		return nil
	}
	defer f.Close()
	var all []Note
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var n Note
		if json.Unmarshal(lines.Bytes(), &n) == nil {
			all = append(all, n)
		}
	}
	return all
}
