package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// toldLast holds the latest message to a session's user and the account at that time.
type toldLast struct {
	Done  string    `json:"done,omitempty"` // what the user was told about
	Saved *GainPart `json:"saved,omitempty"`
}

// toldFolder returns the folder with a file for each session.
func toldFolder(dir string) string { return filepath.Join(dir, "told") }

func toldFile(dir, session string) string { return filepath.Join(toldFolder(dir), session) }

// plainSession reports whether a session's id can be the name of a file.
func plainSession(session string) bool {
	return session != "" && len(session) < 200 && strings.Trim(session, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == ""
}

// ReadTold returns what was known, or nothing.
func ReadTold(dir, session string) (t toldLast) {
	if !plainSession(session) {
		return t
	}
	text, err := os.ReadFile(toldFile(dir, session))
	if err != nil || json.Unmarshal(text, &t) != nil {
		return toldLast{}
	}
	return t
}

// Write keeps what is known.
func (t toldLast) Write(dir, session string) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(toldFolder(dir), 0o700); err != nil {
		return err
	}
	return os.WriteFile(toldFile(dir, session), text, 0o600)
}
