package proxy

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// provider is a company whose API has an address of its own. A request without a configured upstream goes to a provider
// only if its path and its key both belong there: a key that reaches another company cannot be called back.
type provider struct {
	name     string
	url      *url.URL
	header   string // the headers by which its clients identify themselves, in words
	prefixes []string
	roots    []string // first segments of the paths that only this provider has, after /v1/
}

// The providers.
var (
	anthropic = &provider{
		name: "Anthropic", url: &url.URL{Scheme: "https", Host: "api.anthropic.com"}, header: "anthropic-version or x-api-key", prefixes: []string{"sk-ant-"},
		roots: []string{"messages", "complete", "organizations", "code", "sessions", "session_ingress", "environments", "oauth", "agents", "memory_stores",
			"vaults", "mcp_servers", "tunnels", "deployments", "user_profiles", "dreams", "design", "ultrareview", "toolbox", "filestore", "privacy-consents"},
	}
	openai = &provider{
		name: "OpenAI", url: &url.URL{Scheme: "https", Host: "api.openai.com"}, header: "Authorization: Bearer", prefixes: []string{"sk-"},
		roots: []string{"responses", "chat", "completions", "embeddings", "images", "audio", "videos", "moderations", "fine_tuning", "batches", "uploads",
			"vector_stores", "assistants", "threads", "realtime", "conversations", "evals", "graders", "containers", "chatkit", "organization", "memories"},
	}
	gemini = &provider{
		name: "Gemini", url: &url.URL{Scheme: "https", Host: "generativelanguage.googleapis.com"}, header: "x-goog-api-key or ?key=",
		prefixes: []string{"AIza", "AQ.", "ya29."},
	}
)

// shared are the first segments after /v1/ of paths that both Anthropic and OpenAI have.
var shared = []string{"models", "files", "skills"}

// elsewhere are beginnings of other companies' keys. Without --upstream there is no address for them.
var elsewhere = []string{"sk-or-", "gsk_", "xai-", "hf_", "pplx-", "nvapi-", "csk-", "fw_", "tgp_v1_", "r8_", "ghp_", "gho_", "ghu_", "ghs_", "github_pat_",
	"AKIA", "ASIA", "ABSK", "bedrock-api-key-"}

// route returns the provider that a request is for. If the request does not name exactly one, it returns nil and the
// reason, which contains no key.
func route(r *http.Request) (to *provider, why string) {
	owners := ownersOf(r.URL.Path)
	if len(owners) == 0 {
		return nil, "its path belongs to no known API"
	}
	keys, scheme := credentials(r)
	if scheme != "" {
		return nil, scheme + " is no kind of key that Anthropic, OpenAI or Gemini use"
	}
	named := identified(r)
	switch {
	case len(named) == 1:
		to = named[0]
	case len(named) > 1:
		return nil, fmt.Sprintf("its headers name both %s and %s", named[0].name, named[1].name)
	case len(owners) == 1 && len(keys) > 0 && slices.Contains(issuers(keys), owners[0]):
		to = owners[0] // a known key on the path of its own provider
	case len(keys) > 0:
		to = openai // whose clients send nothing but the key
	default:
		return nil, "it has no key that names a provider"
	}
	if !slices.Contains(owners, to) {
		return nil, fmt.Sprintf("its path is one of %s, but its key is in the form of %s (%s)", names(owners), to.name, to.header)
	}
	for _, issuer := range issuers(keys) {
		if issuer != to {
			return nil, fmt.Sprintf("it is in the form of %s, but its key was issued by another provider", to.name)
		}
	}
	return to, ""
}

// ownersOf returns the providers that have a path.
func ownersOf(path string) []*provider {
	root, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch root {
	case "api":
		return []*provider{anthropic} // where Claude Code finds its account and settings
	case "v1beta", "v1alpha", "upload", "download":
		return []*provider{gemini}
	case "v1":
	default:
		return nil
	}
	root, rest, _ = strings.Cut(rest, "/")
	switch {
	case root == "models" && strings.Contains(rest, ":") && apiOf(path) != nil:
		return []*provider{gemini} // /v1/models/NAME:generateContent
	case slices.Contains(shared, root):
		return []*provider{anthropic, openai}
	}
	for _, p := range []*provider{anthropic, openai} {
		if slices.Contains(p.roots, root) {
			return []*provider{p}
		}
	}
	return nil
}

// identified returns the providers that the kinds of a request's headers name. A bearer token alone names none here,
// because every provider accepts some.
func identified(r *http.Request) (list []*provider) {
	claude := r.Header.Get("X-Api-Key") != ""
	for name := range r.Header {
		claude = claude || strings.HasPrefix(name, "Anthropic-")
	}
	if claude {
		list = append(list, anthropic)
	}
	if r.Header.Get("X-Goog-Api-Key") != "" || r.URL.Query().Has("key") {
		list = append(list, gemini)
	}
	return list
}

// credentials returns the keys of a request. foreign names a header that carries a key of a kind that no provider uses.
func credentials(r *http.Request) (keys []string, foreign string) {
	keys = append(keys, r.Header.Values("X-Api-Key")...)
	keys = append(keys, r.Header.Values("X-Goog-Api-Key")...)
	keys = append(keys, r.URL.Query()["key"]...)
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

// issuers returns the providers that issued the keys of known form; nil among them stands for any other company.
func issuers(keys []string) (list []*provider) {
	begins := func(key string, prefixes []string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(key, p) })
	}
	for _, key := range keys {
		if begins(key, elsewhere) {
			list = append(list, nil)
			continue
		}
		for _, p := range []*provider{anthropic, gemini, openai} { // OpenAI's "sk-" last
			if begins(key, p.prefixes) {
				list = append(list, p)
				break
			}
		}
	}
	return list
}

func names(list []*provider) string {
	var all []string
	for _, p := range list {
		all = append(all, p.name)
	}
	return strings.Join(all, " and ")
}
