// Package calls reads the calls of testdata/calls and generates their inputs: realistic files and commands, the same on
// every machine. Its test sends the calls through the whole server and writes docs/evidence/CALLS.md, which shows how much of
// each result the model gets.
package calls

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
)

// Call is one line of testdata/calls/calls.jsonl.
type Call struct {
	About    string         `json:"about"`
	Tool     string         `json:"tool"`
	Args     map[string]any `json:"args"`
	Question string         `json:"question"`
	Needs    []string       `json:"needs"` // texts that the result must contain
}

// Read reads a file of calls. An unknown field is an error.
func Read(path string) (all []Call, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := json.NewDecoder(file)
	lines.DisallowUnknownFields()
	for lines.More() {
		var c Call
		if err := lines.Decode(&c); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// Asked returns the arguments of the call with its question.
func (c Call) Asked() map[string]any {
	args := maps.Clone(c.Args)
	args["context_focus_question"] = c.Question
	return args
}

// Missing returns the entries of Needs that the result does not contain.
func (c Call) Missing(result string) (missing []string) {
	for _, needed := range c.Needs {
		if !strings.Contains(result, needed) {
			missing = append(missing, needed)
		}
	}
	return missing
}
