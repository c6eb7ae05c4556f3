package wire

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// Route returns the provider that a request is for. A request goes to a provider only if its path, its headers and the form of
// its key all belong there: a key that reaches another company cannot be called back. A key in no known form goes only where a
// header of the provider's own says whose it is. If the request does not name exactly one provider, Route returns nil and the
// reason, which contains no key.
func Route(r *http.Request) (to *Provider, why string) {
	owners := ownersOf(r.URL.Path)
	if len(owners) == 0 {
		return nil, "its path belongs to no known API"
	}
	keys, scheme := credentials(r)
	if scheme != "" {
		return nil, scheme + " is no kind of key that " + names(providers, "or") + " use"
	}
	named, known, unknown := identified(r), []*Provider(nil), 0
	for _, key := range keys {
		list := issuers(key)
		known = append(known, list...)
		if len(list) == 0 {
			unknown++
		}
	}
	switch {
	case len(named) == 1:
		to = named[0]
	case len(named) > 1:
		return nil, fmt.Sprintf("its headers name both %s and %s", named[0].Name, named[1].Name)
	case len(owners) == 1 && len(keys) > 0 && slices.Contains(known, owners[0]):
		to = owners[0] // a known key on the path of its own provider
	case len(keys) > 0:
		to = bearer
	default:
		return nil, "it has no key that names a provider"
	}
	if !slices.Contains(owners, to) {
		return nil, fmt.Sprintf("its path is one of %s, but its key is in the form of %s (%s)", names(owners, "and"), to.Name, to.headers)
	}
	for _, issuer := range known {
		if issuer != to {
			return nil, fmt.Sprintf("it is in the form of %s, but its key was issued by another provider", to.Name)
		}
	}
	if len(named) == 0 && unknown > 0 {
		return nil, fmt.Sprintf("its key is in no form that is known of %s's, and no header says whose it is", to.Name)
	}
	return to, ""
}

// names returns "A, B and C".
func names(list []*Provider, last string) string {
	all := make([]string, len(list))
	for i, p := range list {
		all[i] = p.Name
	}
	return terminal.List(all, last)
}

// Refusal returns the body of an error for a request, in the form of the API that the request is for. A request that could
// be for several gets a form that the clients of each can read.
func Refusal(r *http.Request, status int, text string) []byte {
	kind := "invalid_request_error"
	if status >= http.StatusInternalServerError {
		kind = "api_error"
	}
	owners := ownersOf(r.URL.Path)
	if len(owners) != 1 {
		owners = identified(r)
	}
	if len(owners) == 1 && owners[0].refusal != nil {
		return jsonspan.Encode(owners[0].refusal(status, kind, text))
	}
	return jsonspan.Encode(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": text}})
}
