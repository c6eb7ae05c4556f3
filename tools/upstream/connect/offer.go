package connect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// Offer lists the tools and other features of a server.
type Offer struct {
	Tools        []upstream.Definition
	Resources    []json.RawMessage // as listed, like the next two
	Templates    []json.RawMessage
	Prompts      []json.RawMessage
	Instructions string
	Capabilities Capabilities
	Problems     []string // entries and pages that were left out

	raw    []byte // the JSON that all of it was read from
	stored bool   // the server has not answered since this start
}

// Capabilities are those of a server that matter here.
type Capabilities struct {
	Resources *struct {
		Subscribe bool `json:"subscribe"`
	} `json:"resources"`
	Prompts, Completions, Logging, Tasks json.RawMessage

	// Extensions of the protocol, which may need messages that nobody here knows.
	Experimental, Extensions map[string]json.RawMessage
}

// remembered is the data kept about a server between starts.
type remembered struct {
	Instructions string            `json:"instructions,omitempty"`
	Capabilities json.RawMessage   `json:"capabilities,omitempty"`
	Pages        []json.RawMessage `json:"pages"` // results of tools/list
	Resources    []json.RawMessage `json:"resources,omitempty"`
	Templates    []json.RawMessage `json:"templates,omitempty"`
	Prompts      []json.RawMessage `json:"prompts,omitempty"`
}

// offer parses a server's answers.
func (r remembered) offer(server string) (Offer, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return Offer{}, fmt.Errorf("tools/list: %w", err)
	}
	o := Offer{Instructions: r.Instructions, raw: raw}
	if o.Tools, o.Problems, err = upstream.ParseList(server, r.Pages...); err != nil {
		return Offer{}, err
	}
	_ = json.Unmarshal(r.Capabilities, &o.Capabilities) // none, or nonsense: it has none
	o.Resources = entries(r.Resources, "resources")
	o.Templates = entries(r.Templates, "resourceTemplates")
	o.Prompts = entries(r.Prompts, "prompts")
	return o, nil
}

// entries returns the entries in the pages of a list.
func entries(pages []json.RawMessage, member string) (all []json.RawMessage) {
	for _, page := range pages {
		var members map[string]json.RawMessage
		var list []json.RawMessage
		if json.Unmarshal(page, &members) == nil && json.Unmarshal(members[member], &list) == nil {
			all = append(all, list...)
		}
	}
	return all
}

// SameLists reports whether two offers have the same resources, and the same prompts.
func (o Offer) SameLists(other Offer) (resources, prompts bool) {
	same := func(a, b []json.RawMessage) bool {
		return slices.EqualFunc(a, b, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
	}
	return same(o.Resources, other.Resources) && same(o.Templates, other.Templates), same(o.Prompts, other.Prompts)
}

// Limits of a list. A server that lists without end does not fill the memory.
const (
	maxPages     = 200
	maxListBytes = 32 << 20
)

// ask requests everything that a server lists. What it refuses, or does not end to list, is left out and noted in
// problems; only a list of tools that cannot be had is an error.
func (c *connection) ask(ctx context.Context) (said remembered, problems []string, err error) {
	said = remembered{Instructions: c.instructions, Capabilities: c.capabilities}
	var problem string
	if said.Pages, problem, err = c.pages(ctx, "tools/list"); err != nil {
		return said, nil, err
	}
	problems = append(problems, problem)
	var has Capabilities
	_ = json.Unmarshal(c.capabilities, &has)
	for _, list := range []struct {
		method string
		exists bool
		pages  *[]json.RawMessage
	}{
		{"resources/list", has.Resources != nil, &said.Resources},
		{"resources/templates/list", has.Resources != nil, &said.Templates},
		{"prompts/list", has.Prompts != nil, &said.Prompts},
	} {
		if !list.exists {
			continue
		}
		if *list.pages, problem, err = c.pages(ctx, list.method); err != nil {
			if !c.alive() {
				return said, nil, err
			}
			problem = err.Error()
		}
		problems = append(problems, problem)
	}
	return said, slices.DeleteFunc(problems, func(p string) bool { return p == "" }), nil
}

// pages requests a list page by page. problem says what was left out.
func (c *connection) pages(ctx context.Context, method string) (pages []json.RawMessage, problem string, err error) {
	size := 0
	for cursor := ""; ; {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		answer, err := c.request(ctx, method, params)
		switch {
		case err != nil:
			return nil, "", err
		case answer.Error != nil && len(pages) == 0 && answer.Error.Code == mcp.METHOD_NOT_FOUND:
			return nil, "", nil // it has no such list
		case answer.Error != nil:
			return nil, "", fmt.Errorf("%s was refused: %s", method, answer.Error.Message)
		}
		pages, size = append(pages, answer.Result), size+len(answer.Result)
		var next struct {
			Cursor string `json:"nextCursor"`
		}
		_ = json.Unmarshal(answer.Result, &next)
		switch {
		case next.Cursor == "" || next.Cursor == cursor:
			return pages, "", nil
		case len(pages) == maxPages || size > maxListBytes:
			return pages, fmt.Sprintf("%s did not end after %d pages and %d bytes; the rest is left out", method, len(pages), size), nil
		}
		cursor = next.Cursor
	}
}
