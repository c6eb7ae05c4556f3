package wire

import (
	"net/http"
	"slices"
	"strings"
)

// providers is the one table of what a credential may reach: each provider's address, paths, headers and forms of keys.
var providers = []*Provider{anthropic, openai, chatgpt, gemini}

// bearer is the provider whose clients send nothing but a bearer token.
var bearer = openai

// elsewhere lists prefixes of other companies' keys. No address is known for them, so that their requests need --upstream.
var elsewhere = []string{"sk-or-", "gsk_", "xai-", "hf_", "pplx-", "nvapi-", "csk-", "fw_", "tgp_v1_", "r8_", "ghp_", "gho_", "ghu_", "ghs_", "github_pat_",
	"AKIA", "ASIA", "ABSK", "bedrock-api-key-"}

// APIOf determines the API of a request by its path. It returns nil if the path carries no conversation.
func APIOf(path string) *API {
	for _, p := range providers {
		if a := p.apiOf(path); a != nil {
			return a
		}
	}
	return nil
}

// ownersOf returns the providers that have a path.
func ownersOf(path string) (owners []*Provider) {
	folder, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	root, rest, _ := strings.Cut(rest, "/")
	for _, p := range providers {
		a := p.apiOf(path)
		switch {
		case slices.Contains(p.folders, folder):
			return []*Provider{p}
		case folder == "v1" && root == "models" && strings.Contains(rest, ":") && a != nil && strings.HasPrefix(a.suffix, ":"):
			return []*Provider{p} // /v1/models/NAME:generateContent
		case folder == "v1" && slices.Contains(p.roots, root):
			owners = append(owners, p)
		}
	}
	return owners
}

// identified returns the providers that the kinds of a request's headers name. A bearer token alone names none here,
// because every provider accepts some.
func identified(r *http.Request) (list []*Provider) {
	for _, p := range providers {
		named := p.keyHeader != "" && r.Header.Get(p.keyHeader) != "" || p.keyQuery != "" && r.URL.Query().Has(p.keyQuery)
		for name := range r.Header {
			named = named || p.beginning != "" && strings.HasPrefix(name, p.beginning)
		}
		if named {
			list = append(list, p)
		}
	}
	return list
}

// credentials returns the keys of a request. foreign names a header that carries a key of a kind that no provider uses.
func credentials(r *http.Request) (keys []string, foreign string) {
	for _, p := range providers {
		keys = append(keys, r.Header.Values(p.keyHeader)...)
		if p.keyQuery != "" {
			keys = append(keys, r.URL.Query()[p.keyQuery]...)
		}
	}
	if r.Header.Get("Api-Key") != "" {
		return nil, "the header api-key"
	}
	for _, v := range r.Header.Values("Authorization") {
		scheme, token, _ := strings.Cut(v, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return nil, "an Authorization header without Bearer"
		}
		keys = append(keys, strings.TrimSpace(token))
	}
	return keys, ""
}

// issuers returns the providers that issued the keys of known form; nil among them stands for any other company. The
// longest known beginning of a key counts.
func issuers(keys []string) (list []*Provider) {
	for _, key := range keys {
		var issuer *Provider
		longest := 0
		match := func(p *Provider, prefixes []string) {
			for _, prefix := range prefixes {
				if len(prefix) > longest && strings.HasPrefix(key, prefix) {
					issuer, longest = p, len(prefix)
				}
			}
		}
		match(nil, elsewhere)
		for _, p := range providers {
			match(p, p.prefixes)
		}
		if longest > 0 {
			list = append(list, issuer)
		}
	}
	return list
}
