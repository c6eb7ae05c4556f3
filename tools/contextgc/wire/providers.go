package wire

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// providers is the one table of what a credential may reach: each provider's address, paths, headers and forms of keys.
var providers = []*Provider{anthropic, openai, chatgpt, gemini}

// bearer is the provider whose clients send nothing but a bearer token.
var bearer = openai

// elsewhere lists prefixes of other companies' keys. No address is known for them, so that their requests need --upstream.
var elsewhere = []string{"sk-or-", "sk-kimi-", "sk-cp-", "sk-api-", "sk-sp-", "sk-lf-", "sk-helicone-", "vck_", "dapi", "gsk_", "xai-", "hf_", "pplx-", "nvapi-",
	"csk-", "fw_", "tgp_v1_", "r8_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "AKIA", "ASIA", "ABSK", "bedrock-api-key-"}

// APIOf determines the API of a request by its path. It returns nil if the path carries no conversation.
func APIOf(path string) *API {
	for _, p := range providers {
		if a := p.apiOf(path); a != nil {
			return a
		}
	}
	return nil
}

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

// credentials returns the keys of a request. foreign names a header or a parameter that carries a key of a kind that no provider uses.
func credentials(r *http.Request) (keys []string, foreign string) {
	for _, p := range providers {
		keys = append(keys, r.Header.Values(p.keyHeader)...)
	}
	if r.Header.Get("Api-Key") != "" {
		return nil, "the header api-key"
	}
	for _, v := range r.Header.Values("Authorization") {
		scheme, token, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(v, "\t", " ")), " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return nil, "an Authorization header without Bearer"
		}
		keys = append(keys, strings.TrimSpace(token))
	}
	query, err := url.ParseQuery(strings.ReplaceAll(r.URL.RawQuery, ";", "&")) // which r.URL.Query leaves out, and the upstream may read
	if err != nil {
		query.Add("", r.URL.RawQuery)
	}
	var others []string
	for name, values := range query {
		switch {
		case slices.ContainsFunc(providers, func(p *Provider) bool { return p.keyQuery != "" && p.keyQuery == name }):
			keys = append(keys, values...)
		case keyParameter().MatchString(name):
			return nil, "a parameter " + name
		default:
			others = append(others, values...)
		}
	}
	for name, values := range r.Header {
		if name != "Authorization" && keyHeader().MatchString(name) {
			others = append(others, values...)
		}
	}
	return append(keys, slices.DeleteFunc(others, func(v string) bool { return !longKey(v) })...), ""
}

// Names with which clients of other APIs send keys.
var (
	keyParameter = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^((x[-_])?(api|access|auth|subscription)?[-_]?(key|token)|auth(orization)?|secret)$`)
	})
	keyHeader = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?i)key|token|auth|secret|cookie") })
)

// longKey reports whether a text that need not be a key is one. Other texts, such as cursors, begin like a JWT, too.
func longKey(text string) bool {
	return len(text) >= 20 && slices.ContainsFunc(issuers(text), func(p *Provider) bool { return p != chatgpt })
}

// issuers returns the providers that issued what is in a key of a known form, which may have quotes or a scheme around it; nil among
// them stands for any other company. The longest known beginning of a word counts.
func issuers(key string) (list []*Provider) {
	for word := range strings.FieldsFuncSeq(key, func(r rune) bool { return strings.ContainsRune(" \t\"'`,;:=&<>()[]{}", r) }) {
		var issuer *Provider
		longest := 0
		match := func(p *Provider, prefixes []string) {
			for _, prefix := range prefixes {
				if len(prefix) > longest && strings.HasPrefix(word, prefix) {
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
