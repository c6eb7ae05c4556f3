package web

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
)

// ProtectedResource is the metadata that a door publishes for OAuth clients, as RFC 9728 and the authorization part of MCP ask for.
type ProtectedResource struct {
	URL    string   // of the door, as clients know it
	Issuer string   // of the tokens
	Scopes []string // that a token needs
}

// wellKnown is the path of a resource's metadata. The resource's own path follows it.
const wellKnown = "/.well-known/oauth-protected-resource"

// Paths returns the paths of the metadata: that of the resource, and the one that older clients ask for.
func (r *ProtectedResource) Paths() []string {
	if path := r.path(); path != "" {
		return []string{wellKnown + path, wellKnown}
	}
	return []string{wellKnown}
}

func (r *ProtectedResource) path() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return "" // it was checked with the settings
	}
	return strings.TrimSuffix(u.Path, "/")
}

// Metadata returns the document that names the issuer.
func (r *ProtectedResource) Metadata() []byte {
	text, _ := json.Marshal(struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
		Name     string   `json:"resource_name"`
	}{r.URL, []string{r.Issuer}, r.Scopes, []string{"header"}, "mcp-pruner"}) // strings always encode
	return text
}

// Challenge returns the header WWW-Authenticate of an answer that refuses a caller. presented says whether the request had
// a credential. Without a resource it asks for a key.
func (r *ProtectedResource) Challenge(err error, presented bool) string {
	if r == nil {
		return "Bearer"
	}
	var said []string
	switch {
	case errors.Is(err, ErrScope):
		said = append(said, `error="insufficient_scope"`)
	case presented:
		said = append(said, `error="invalid_token"`)
	}
	if len(r.Scopes) > 0 {
		said = append(said, `scope="`+strings.Join(r.Scopes, " ")+`"`)
	}
	place := strings.TrimSuffix(r.URL, r.path())
	said = append(said, `resource_metadata="`+strings.TrimSuffix(place, "/")+r.Paths()[0]+`"`)
	return "Bearer " + strings.Join(said, ", ")
}
