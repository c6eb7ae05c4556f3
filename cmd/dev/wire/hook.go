package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/results"
)

// readEvents reads the recorded results, in the order of their files.
func readEvents(folder string) ([]*results.Sample, error) {
	all, err := results.Read(folder)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s has no results", folder)
	}
	return all, err
}

// hook plays a client's events, each in a process of its own, with all of them in one state folder.
func (s *stand) hook(c client) (all []exchange, err error) {
	if c.hooks == "" {
		return nil, nil
	}
	messages, err := s.messages(c)
	if err != nil {
		return nil, err
	}
	masker := newMasker()
	for _, m := range messages {
		got, err := s.once(m, []string{"MCP_PRUNER_OTHER_TOOLS=all"}, hookArgs(c)...)
		if err != nil {
			return nil, err
		}
		all = append(all, exchange{masker.mask(m), masker.mask(got)})
		id := anOriginal.FindString(got)
		if id == "" {
			continue
		}
		if got, err = s.once("", nil, "recover", id); err != nil {
			return nil, err
		}
		all = append(all, exchange{masker.mask("recover " + id), masker.mask(got)})
	}
	return all, nil
}

func hookArgs(c client) []string {
	if c.hooks == "gemini" {
		return []string{"hook", c.hooks, "--replace"}
	}
	return []string{"hook", c.hooks}
}

// messages returns as many events as asked for: the recorded results, whole and with parts missing, and messages that
// are no event. Their transcripts are files of the stand.
func (s *stand) messages(c client) (all []string, err error) {
	own := s.recorded(c)
	for i := 0; len(all) < s.size.events; i++ {
		e := own[i%len(own)]
		transcript := filepath.Join(s.dir, fmt.Sprintf("transcript-%d.jsonl", i))
		if err := os.WriteFile(transcript, []byte(e.Transcript()), 0o600); err != nil {
			return nil, err
		}
		message := strings.ReplaceAll(e.Event(transcript), `"/shop"`, encode(s.root()))
		if message, err = changed(message, i/len(own)); err != nil {
			return nil, err
		}
		all = append(all, message)
	}
	return all, nil
}

// changed returns the message of a later round, in which something of it is missing or different.
func changed(message string, round int) (string, error) {
	if round == 0 {
		return message, nil
	}
	var m object
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		return "", err
	}
	switch round % 7 {
	case 1: // a hook that knows nothing of the session
		delete(m, "transcript_path")
		delete(m, "said")
	case 2: // a session of which nobody said where it works
		delete(m, "cwd")
		delete(m, "directory")
	case 3: // another session, another tool
		m["session_id"], m["sessionID"], m["tool_name"], m["tool"] = "another", "another", "Unknown", "unknown"
	case 4: // a tool that is about to run
		m["hook_event_name"] = cmp.Or(map[any]string{"PostToolUse": "PreToolUse", "AfterTool": "BeforeTool"}[m["hook_event_name"]], "none")
	case 5: // no message
		return message[:len(message)/2], nil
	case 6: // a result of another form
		m["tool_response"], m["output"] = []any{1, "two"}, 3
	default: // the same once more
	}
	return encode(m), nil
}

// recorded returns the recorded results of a client.
func (s *stand) recorded(c client) []*results.Sample {
	return slices.DeleteFunc(slices.Clone(s.events), func(e *results.Sample) bool { return e.Client() != c.hooks })
}
