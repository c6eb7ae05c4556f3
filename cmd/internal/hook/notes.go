package hook

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
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
	Back       bool      `json:"back,omitempty"` // Sent tokens of the original were brought back
}

func notesFile(dir string) string { return filepath.Join(dir, "hooks.jsonl") }

// AddNote appends a note in a state directory with a single write, so that concurrent hooks do not mix their lines. Errors are
// ignored: the notes must never cost a result.
func AddNote(dir string, n Note) {
	line, err := json.Marshal(n)
	if err != nil || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	f, err := os.OpenFile(notesFile(dir), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(append(line, '\n'))
	_ = f.Close()
}

// latestBytes is the size of the end of the notes that Latest reads.
const latestBytes = 512 << 10

// LatestNotes returns the notes at the end of the file, quickly.
func LatestNotes(dir string) []Note { return endOfNotes(dir, latestBytes, anyLine) }

func anyLine([]byte) bool { return true }

// ReadNotes returns the notes in a state directory.
func ReadNotes(dir string) []Note { return endOfNotes(dir, math.MaxInt64, anyLine) }

// endOfNotes returns the notes in the last bytes of the file whose lines are whole and may be wanted.
func endOfNotes(dir string, most int64, wanted func(line []byte) bool) (all []Note) {
	f, err := os.Open(notesFile(dir))
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > most {
		if _, err := f.Seek(-most, io.SeekEnd); err != nil { // into a line, which is skipped
			return nil
		}
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var n Note
		if wanted(lines.Bytes()) && json.Unmarshal(lines.Bytes(), &n) == nil {
			all = append(all, n)
		}
	}
	return all
}
