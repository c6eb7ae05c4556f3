package wire

import (
	"bytes"
	"encoding/json"
	"maps"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// opencodeMessages are messages in the form that opencode's plugins get.
type opencodeMessages []struct {
	Parts []struct {
		Type   string
		CallID string
		State  struct{ Output string }
	}
}

// OpencodeOutputs returns the outputs in after that differ from before, by call id.
func OpencodeOutputs(before, after []byte) (map[string]string, error) {
	var was, is opencodeMessages
	if err := json.Unmarshal(before, &was); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(after, &is); err != nil {
		return nil, err
	}
	changed, calls := make(map[string]string), make(map[string]int)
	for i, m := range is {
		for j, part := range m.Parts {
			if part.Type != "tool" {
				continue
			}
			calls[part.CallID]++
			if part.State.Output != was[i].Parts[j].State.Output {
				changed[part.CallID] = part.State.Output
			}
		}
	}
	maps.DeleteFunc(changed, func(id string, _ string) bool { return calls[id] > 1 }) // the plugin could not tell them apart
	return changed, nil
}

// ParseOpencode parses the messages that opencode gives its plugins: a list of {info, parts}. A call and its result form one part.
func ParseOpencode(b []byte) (*Conversation, error) {
	c, top, err := newConversation(b)
	if err != nil {
		return nil, err
	}
	c.Life = LongLife // of which provider is not said
	err = c.Items(top, func(m span) error {
		found, err := c.Members(m, "info", "parts")
		if err != nil || found[0].To == 0 || found[1].To == 0 {
			return jsonspan.ErrShape
		}
		info, err := c.Members(found[0], "role", "modelID", "model")
		if err != nil {
			return err
		}
		c.opencodeModel(info[1], info[2])
		model := info[0].Text(b) == "assistant"
		return c.Items(found[1], func(part span) error { return c.opencodePart(part, model) })
	})
	if err != nil {
		return nil, err
	}
	c.name("")
	return c, nil
}

// opencodeModel records the model that a message names: of an answer the one that gave it, of a person's words the one that they
// are for. The last one counts.
func (c *Conversation) opencodeModel(id, model span) {
	if model.To > 0 && model.IsObject(c.Body) {
		if found, err := c.Members(model, "modelID"); err == nil {
			id = found[0]
		}
	}
	if name := id.Text(c.Body); name != "" {
		c.Model = name
	}
}

func (c *Conversation) opencodePart(part span, model bool) error {
	found, err := c.Members(part, "type", "text", "callID", "tool", "state", "metadata")
	if err != nil {
		return err
	}
	switch kind := found[0].Text(c.Body); {
	case kind == "tool" && found[4].To > 0:
		state, err := c.Members(found[4], "input", "output")
		if err != nil || state[0].To == 0 {
			return jsonspan.ErrShape
		}
		id := found[2].Text(c.Body)
		c.use(id, found[3].Text(c.Body), state[0], false) // plugins can replace outputs alone
		if state[1].To > 0 && state[1].IsString(c.Body) {
			c.resulted(id, &Result{texts: []span{state[1]}, at: state[1]})
		}
	case kind == "text" && found[1].To > 0 && model:
		c.speak(found[1])
	case kind == "text" && found[1].To > 0:
		c.word(found[1])
	case kind == "reasoning":
		c.think(part)
		c.Signs = c.Signs || bytes.Contains(found[5].Of(c.Body), []byte(`"anthropic"`))
		c.answered(part)
	} // other parts, such as step-finish, are not sent to the model
	return nil
}
