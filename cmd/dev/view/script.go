package view

import (
	"fmt"
	"strings"
	"time"
)

// storeGo is a source file that is made up: many handlers, and one function that counts retries.
func storeGo() string {
	var b strings.Builder
	b.WriteString("package store\n\n")
	for i := range 110 {
		fmt.Fprintf(&b, "// handler%d answers request kind %d.\nfunc handler%d(w writer, r *request) error {\n\tif r == nil {\n\t\treturn errNoRequest\n\t}\n\treturn w.write(%d)\n}\n\n", i, i, i, i)
		if i == 50 {
			b.WriteString("// openLedger opens the ledger and counts retries.\nfunc openLedger(path string) (*ledger, error) {\n\tretries := 0\n\tfor retries < 3 {\n\t\tretries++\n\t}\n\treturn &ledger{retries: retries * 2}, nil\n}\n\n")
		}
	}
	return b.String()
}

// testLog is the log of a test run with one failure.
func testLog(from int) string {
	var b strings.Builder
	for i := range 160 {
		fmt.Fprintf(&b, "=== RUN   TestCase%d\n--- PASS: TestCase%d (0.00s)\n", from+i, from+i)
		if i == 90 {
			b.WriteString("=== RUN   TestLedger\n    ledger_test.go:42: openLedger: want 3 retries, got 6\n--- FAIL: TestLedger (0.01s)\n")
		}
	}
	return b.String() + "FAIL\nFAIL\tshop/store\t0.214s\n"
}

// script is what the agent does: it runs the tests, reads, searches, edits, and runs them again.
func script(dir string) []Tool {
	file := dir + "/store.go"
	grep := &strings.Builder{}
	for i := range 120 {
		fmt.Fprintf(grep, "store/handler_%d.go:%d:\treturn w.write(%d)\n", i, 6+i, i)
	}
	grep.WriteString("store/store.go:463:\t\tretries++\n")
	tests := func(from int) Tool {
		return Tool{Why: "Let me see which test fails.", Name: "Bash", Args: map[string]any{"command": "go test -v ./store", "description": "Run the tests of the store"}, Out: testLog(from)}
	}
	read := Tool{Why: "Where does openLedger count retries?", Name: "Read", Args: map[string]any{"file_path": file}, Out: storeGo(), File: true}
	small := func(command, out string) Tool {
		return Tool{Why: "A short look.", Name: "Bash", Args: map[string]any{"command": command}, Out: out}
	}
	return []Tool{
		small("git status --short", " M store.go\n"), tests(1), read,
		{Why: "Who else writes retries?", Name: "Bash", Args: map[string]any{"command": "grep -rn 'retries\\|write' store"}, Out: grep.String()},
		small("sed -i 's/retries * 2/retries + 1/' store/store.go", ""), tests(400), small("sed -i 's/retries + 1/retries/' store/store.go", ""), tests(900),
	}
}

// Scripted plays a whole session. With hooks the program cuts; rounds is how often the script is played.
func (h Home) Scripted(id, project string, begun time.Time, rounds int, hooks bool) (*Session, error) {
	s, err := h.Play(id, project, begun)
	if err != nil {
		return nil, err
	}
	for range rounds {
		for _, t := range script(s.Project) {
			if err := s.Turn(t, hooks); err != nil {
				return nil, err
			}
		}
	}
	return s, s.Turn(Tool{Why: "It was counted twice; mended."}, hooks)
}

// ExamplePrefix is what context would have kept: parts of all three kinds, one of them with a hostile name.
const ExamplePrefix = `{"client": "claude", "version": "2.1.0", "tokens": 17000, "complete": true, "sessions": 30, "bill_pct": 14.5, "parts": [
 {"kind": "system", "name": "system prompt", "tokens": 3000, "sessions_used": 0, "sessions_seen": 30, "can_go": false, "why": "no switch of the client removes it", "share_pct": 17.6, "bill_pct": 2.5},
 {"kind": "tool", "name": "Bash", "tokens": 6000, "sessions_used": 29, "sessions_seen": 30, "can_go": false, "why": "agents work with it", "share_pct": 35.3, "bill_pct": 5},
 {"kind": "tool", "name": "<img src=x onerror=alert(1)>", "server": "notes", "tokens": 8000, "sessions_used": 0, "sessions_seen": 30, "can_go": true, "why": "used in none of 30 sessions", "share_pct": 47.1, "bill_pct": 7}]}`
