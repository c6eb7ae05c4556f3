package wire

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// chatgpt is where Codex sends its requests after a login with ChatGPT. They have the paths of OpenAI's API below an address of
// their own.
var chatgpt = &Provider{
	Name: "ChatGPT", URL: &url.URL{Scheme: "https", Host: "chatgpt.com", Path: "/backend-api/codex"}, Replaces: "/v1",
	Workspaces: &Workspaces{
		Account: "Chatgpt-Account-Id", Check: &url.URL{Scheme: "https", Host: "chatgpt.com", Path: "/backend-api/wham/accounts/check"},
		Override: "X-Openai-Account-Routing-Override", domains: []string{"chatgpt.com", "openai.com"},
	},
	headers: "chatgpt-account-id", beginning: "Chatgpt-Account-Id", prefixes: []string{"eyJ"}, // a JWT
	roots:   []string{"models", "responses", "alpha", "memories", "realtime", "images", "analytics-events"},
	apis:    openai.apis[:1],
	refusal: openai.refusal,
}

// Workspaces says how the address of an account's workspace is found out. The data of a workspace may have to stay in a region,
// whose address the client does not use behind a base URL.
type Workspaces struct {
	Account  string   // the header with the account's id
	Check    *url.URL // where the account's own credential gets an answer that [Workspaces.Parse] reads
	Override string   // the header that a workspace may need in addition

	domains []string // of the company
}

// Workspace is where the requests of an account go.
type Workspace struct {
	Origin   *url.URL // nil: the provider's own
	Override string   // value of the header; "": none
}

// free is the name for an account that no rule ties to a region.
const free = "NO_CONSTRAINT"

// account is an account in the answer, in which Codex reads both forms.
type account struct {
	ID       string   `json:"id"`
	Also     string   `json:"account_id"`
	Origin   string   `json:"workspace_backend_origin"`
	Override string   `json:"account_routing_override"`
	Account  *account `json:"account"`
}

// Parse reads where the requests of an account go. What names no workspace is of an account without one. An error means that its
// requests must go to an address that is not the company's, or must be sent in a form that is not known.
func (w *Workspaces) Parse(answer []byte, id string) (found Workspace, err error) {
	var list struct{ Accounts json.RawMessage }
	_ = json.Unmarshal(answer, &list) // what is no object names no workspace
	var all []account
	if json.Unmarshal(list.Accounts, &all) != nil {
		byID := map[string]account{}
		_ = json.Unmarshal(list.Accounts, &byID) // another form names no workspace
		for _, a := range byID {
			if a.Account != nil {
				a = *a.Account
			}
			all = append(all, a)
		}
	}
	for _, a := range all {
		if a.ID == id || a.ID == "" && a.Also == id {
			return w.of(a)
		}
	}
	return found, nil
}

func (w *Workspaces) of(a account) (found Workspace, err error) {
	switch a.Override {
	case "", free:
	case "us", "us_cr":
		found.Override = a.Override
	default:
		return found, fmt.Errorf("its workspace has a rule on regions that is not known here: %q", a.Override)
	}
	if a.Origin == "" || a.Origin == free {
		return found, nil
	}
	u, err := url.Parse(a.Origin)
	if err != nil || u.Scheme != "https" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Port() != "" || !w.owns(u.Hostname()) {
		return found, fmt.Errorf("its workspace is at %q, which is no address of %s", a.Origin, strings.Join(w.domains, " or "))
	}
	found.Origin = &url.URL{Scheme: u.Scheme, Host: u.Host}
	return found, nil
}

// owns reports whether a host is the company's.
func (w *Workspaces) owns(host string) bool {
	for _, domain := range w.domains {
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return false
}
