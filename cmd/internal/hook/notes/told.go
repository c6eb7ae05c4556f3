package notes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// Net is the worth of the cuts of a session at the end of its latest turn.
type Net struct {
	Tokens float64 `json:"tokens"` // fresh input tokens; each result that was fetched again is charged with the turn that it took
	Again  int     `json:"again"`  // results of which parts were fetched again
}

// Told holds the latest message to a session's user and the net at that time.
type Told struct {
	Done string `json:"done,omitempty"` // what the user was told about
	Net  *Net   `json:"net,omitempty"`
}

// ToldFolder returns the folder with a file for each session.
func ToldFolder(dir string) string { return filepath.Join(dir, "told") }

func toldFile(dir, session string) string { return filepath.Join(ToldFolder(dir), session) }

// PlainSession reports whether a session's id can be the name of a file.
func PlainSession(session string) bool {
	return session != "" && len(session) < 200 && strings.Trim(session, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == ""
}

// ReadTold returns what was known, or nothing.
func ReadTold(dir, session string) (t Told) {
	if !PlainSession(session) {
		return t
	}
	text, err := os.ReadFile(toldFile(dir, session))
	if err != nil || json.Unmarshal(text, &t) != nil {
		return Told{}
	}
	return t
}

// Write keeps what is known.
func (t Told) Write(dir, session string) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(ToldFolder(dir), 0o700); err != nil {
		return err
	}
	return os.WriteFile(toldFile(dir, session), text, 0o600)
}
