package wire

import (
	"net/url"
	"strings"
)

// Provider is a company whose API has an address of its own.
type Provider struct {
	Name       string
	URL        *url.URL
	Replaces   string      // the beginning of its clients' paths in whose place the URL's path stands
	Workspaces *Workspaces // nil: all accounts have the same address

	headers   string   // the headers by which its clients identify themselves, in words
	keyHeader string   // the header of a key that no other provider has; "": its clients send a bearer token alone
	keyQuery  string   // the same as a parameter of the URL
	beginning string   // of other headers that only its clients send
	prefixes  []string // of its keys
	folders   []string // first segments of the paths that only this provider has
	roots     []string // segments after /v1/ of its paths
	apis      []API

	// refusal returns the body of an error of its API. Nil: the form that clients of every API can read.
	refusal func(status int, kind, text string) any
}

// API is one of the model APIs that the proxy understands.
type API struct {
	Name   string
	Counts bool // the request only counts tokens

	suffix string // of the paths
	parse  func(c *Conversation, top span) error
}

// Parse parses the body of a request.
func (a *API) Parse(body []byte) (*Conversation, error) {
	c, top, err := newConversation(body)
	if err != nil {
		return nil, err
	}
	if err := a.parse(c, top); err != nil {
		return nil, err
	}
	return c, nil
}

func (p *Provider) apiOf(path string) *API {
	for i, a := range p.apis {
		if strings.HasSuffix(path, a.suffix) {
			return &p.apis[i]
		}
	}
	return nil
}
