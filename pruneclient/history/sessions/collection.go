package sessions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"
)

// collected is one session of a collection: a JSON object on one line.
type collected struct {
	ID      string `json:"id"`
	Source  string `json:"src"`
	When    string `json:"when"`
	Version string `json:"version"`
	Model   string `json:"model"` // of calls that name none
	Steps   []struct {
		Kind  Kind            `json:"k"`
		Type  string          `json:"type"`
		Model string          `json:"model"`
		Text  string          `json:"text"`
		Think string          `json:"think"`
		Usage *apiUsage       `json:"usage"`
		ID    string          `json:"id"`
		Tool  string          `json:"tool"`
		Args  json.RawMessage `json:"args"`
		Out   string          `json:"out"`
		Err   bool            `json:"err"`
		At    float64         `json:"t"` // seconds
	} `json:"steps"`
}

// apiUsage is usage in the Anthropic API's format.
type apiUsage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
	Created    struct {
		Hour int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

func (u *apiUsage) usage() *Usage {
	if u == nil {
		return nil
	}
	return &Usage{Input: u.Input, CacheWrite: u.CacheWrite, CacheRead: u.CacheRead, Output: u.Output, Hour: max(min(u.Created.Hour, u.CacheWrite), 0)}
}

func parseCollected(line []byte) (Session, error) {
	var c collected
	if err := json.Unmarshal(line, &c); err != nil {
		return Session{}, err
	}
	if c.ID == "" || c.Steps == nil {
		return Session{}, fmt.Errorf("a session has an id and steps")
	}
	s := Session{ID: c.ID, Source: c.Source, Project: c.Source, Version: c.Version, Begun: day(c.When, c.ID), Steps: make([]Step, 0, len(c.Steps))}
	for _, in := range c.Steps {
		step := Step{Kind: in.Kind, Text: in.Text, Think: in.Think, Usage: in.Usage.usage(), ID: in.ID, Tool: in.Tool, Out: in.Out, Err: in.Err, Model: in.Model, Type: in.Type}
		if step.Kind == Attach && notSent[step.Type] {
			continue
		}
		step.Args = arguments(in.Args)
		if step.Kind == Call {
			step.Model = cmp.Or(step.Model, c.Model)
			step.At = time.Duration(in.At * float64(time.Second))
		}
		s.Steps = append(s.Steps, step)
	}
	return s, nil
}

// day returns the day that the first of some texts begins with that begins with one.
func day(texts ...string) time.Time {
	for _, text := range texts {
		if day, err := time.Parse(time.DateOnly, text[:min(len(text), len(time.DateOnly))]); err == nil {
			return day
		}
	}
	return time.Time{}
}

// arguments decodes an object, or a string that contains one.
func arguments(raw json.RawMessage) map[string]any {
	var args map[string]any
	if len(raw) == 0 {
		return nil
	}
	if raw[0] == '"' {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return nil
		}
		raw = json.RawMessage(text)
	}
	if json.Unmarshal(raw, &args) != nil {
		return nil
	}
	return args
}
