// Package calls holds the calls of testdata/calls: what a model gets for realistic
// questions about realistic files and commands, through the whole server. Its test
// writes docs/CALLS.md. The inputs are made here, the same on every machine.
package calls

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
)

// Call is a line of testdata/calls/calls.jsonl.
type Call struct {
	About    string         `json:"about"`
	Tool     string         `json:"tool"`
	Args     map[string]any `json:"args"`
	Question string         `json:"question"`
	Needs    []string       `json:"needs"` // what the result has to have
}

// Read reads a file of calls.
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

// Asked are the arguments of the call with its question.
func (c Call) Asked() map[string]any {
	args := maps.Clone(c.Args)
	args["context_focus_question"] = c.Question
	return args
}

// Missing lists what the result needs and does not have.
func (c Call) Missing(result string) (missing []string) {
	for _, needed := range c.Needs {
		if !strings.Contains(result, needed) {
			missing = append(missing, needed)
		}
	}
	return missing
}
