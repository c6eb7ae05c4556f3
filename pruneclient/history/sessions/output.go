package sessions

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// outputBytes is the number of bytes at the end of a transcript in which the output of a command that has just ended is
// sought. Codex writes at most 64 KiB of it, and shortly before it runs the hook.
const outputBytes = 4 << 20

// CommandOutput returns what a Codex transcript has of the output of a command that has just ended, and shown is what Codex
// shows of it. Lines that the transcript lacks are empty, but for the first one, which says so: all others keep their numbers.
// ok is false if the transcript has no output of that call, or if it cannot be said how many lines are missing.
func CommandOutput(path, id, shown string) (text string, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || id == "" {
		return "", false
	}
	from := max(info.Size()-outputBytes, 0)
	end, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if err != nil {
		return "", false
	}
	quoted, err := json.Marshal(id)
	if err != nil {
		return "", false
	}
	for lines := bytes.Split(end, []byte("\n")); len(lines) > 0; lines = lines[:len(lines)-1] {
		line := lines[len(lines)-1]
		if !bytes.Contains(line, quoted) || !bytes.Contains(line, []byte("aggregated_output")) {
			continue
		}
		if text, ok := commandOutput(line, id); ok {
			return numberedAlike(text, shown)
		}
	}
	return "", false
}

func commandOutput(line []byte, id string) (text string, ok bool) {
	var e struct {
		Payload struct {
			CallID string `json:"call_id"` // of older versions
			Output string `json:"aggregated_output"`
			Item   struct {
				ID     string `json:"id"`
				Output string `json:"aggregated_output"`
			} `json:"item"`
		} `json:"payload"`
	}
	switch {
	case json.Unmarshal(line, &e) != nil:
		return "", false
	case e.Payload.Item.ID == id:
		return e.Payload.Item.Output, true
	}
	return e.Payload.Output, e.Payload.CallID == id
}

var (
	// notKept is the text that Codex writes in place of the middle of an output that is too long for its transcript.
	notKept = "\n... command output truncated for persistence ...\n"

	// totalLines matches the number of lines that Codex states for an output of which it shows a part.
	totalLines = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^Total output lines: (\d+)$`) })
)

// numberedAlike puts empty lines where the transcript lacks some.
func numberedAlike(text, shown string) (string, bool) {
	head, tail, cut := strings.Cut(text, notKept)
	if !cut {
		return text, true
	}
	m := totalLines().FindStringSubmatch(shown)
	if m == nil {
		return "", false
	}
	total, err := strconv.Atoi(m[1])
	head = head[:strings.LastIndexByte(head, '\n')+1] // the lines at the cut are not whole
	_, tail, _ = strings.Cut(tail, "\n")
	missing := total - strings.Count(head, "\n") - strings.Count(strings.TrimSuffix(tail, "\n"), "\n") - 1
	if err != nil || tail == "" || missing < 1 || missing > outputBytes {
		return "", false
	}
	return head + "[Codex did not keep these lines]" + strings.Repeat("\n", missing) + tail, true
}
