package sessions

import (
	"bytes"
	"io"
	"os"
)

// Tail reads the steps at the end of a running session's transcript, from at most its last limit bytes.
// agent is the id of a sub-agent; "" selects the main thread of a Claude Code session.
func Tail(path, client, agent string, limit int64) (Session, error) {
	f, err := os.Open(path)
	if err != nil {
		return Session{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Session{}, err
	}
	from := max(info.Size()-limit, 0)
	text, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if err != nil {
		return Session{}, err
	}
	if from > 0 { // the first line is incomplete
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return parseLines(text, client, agent), nil
}

func parseLines(text []byte, client, agent string) Session {
	claude, codex := &ClaudeReader{Agent: agent}, &codexReader{}
	for line := range bytes.Lines(text) {
		if client == "codex" {
			codex.line(line)
			continue
		}
		claude.Line(line)
	}
	if client == "codex" {
		return codex.session
	}
	return claude.Session
}
