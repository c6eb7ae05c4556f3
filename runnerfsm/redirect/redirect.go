// Package redirect finds out where a client sends its API calls, and returns what makes one run of it send them to a proxy
// instead. It changes no file of the client.
package redirect

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Start is how a user starts a client.
type Start struct {
	Env  []string
	Dir  string
	Args []string
}

// Proxy is where the calls go.
type Proxy struct {
	Address string // http://127.0.0.1:PORT
	Secret  string
	Folder  string // for files of this run, which only the user can read
	Shown   bool   // the change is to be shown, without what the user's own settings have in it
}

// Plan is how a client's calls come to a proxy.
type Plan struct {
	// Upstreams are where the proxy sends the calls, by the first segment of their path. That of "" has no such segment; if
	// there is none, each call goes to the provider that it names.
	Upstreams map[string]*url.URL

	// Passed are the addresses of this user's own proxies in the client's configuration, which this run passes by.
	Passed []string

	// Change returns what a run starts the client with.
	Change func(Proxy) (Change, error)
}

// origin returns an address without its path, in which the secret may be.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// Change holds the environment, arguments and files with which a run starts the client.
type Change struct {
	Env   []string          // added to the environment
	Args  []string          // all of the arguments
	Files map[string]string // to write first: contents by path
}

// Refusal is the reason why a client's calls cannot go to a proxy.
type Refusal struct{ Why string }

func (r Refusal) Error() string { return r.Why }

func refusef(format string, args ...any) error { return Refusal{fmt.Sprintf(format, args...)} }

// url returns the address for a client that cannot send a header. path is what a client expects before its own paths.
func (p Proxy) url(route, path string) string {
	if route != "" {
		route = "/" + route
	}
	return secret.Secret(p.Secret).URL(p.Address) + route + path
}

// get returns a variable of the user's environment.
func (s Start) get(name string) string { return system.Here(s.Env).Get(name) }

func (s Start) home() setup.Home { return setup.Home{Lookup: system.Here(s.Env).Lookup} }

// other refuses a client whose variables select another provider.
func other(c *agent.Client, get func(string) string) error {
	for _, o := range c.Base.Others {
		if on(get(o.Variable)) {
			return refusef("%s uses %s (%s=%s), whose requests the proxy cannot work on: unset it, or start %s without --proxy",
				c.Title, o.Provider, o.Variable, get(o.Variable), c.Name)
		}
	}
	return nil
}

// on reports whether the value of a variable switches something on.
func on(value string) bool {
	return value != "" && !slices.Contains([]string{"0", "false", "no", "off"}, strings.ToLower(value))
}

// upstream parses a configured address, or the client's own.
func upstream(c *agent.Client, configured, where string) (*url.URL, error) {
	if configured == "" {
		configured, where = c.Base.Address, "its own address"
	}
	u, err := url.Parse(configured)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, refusef("%s has an address for its API that is no http or https URL, in %s: correct it first", c.Title, where)
	}
	return u, nil
}

// toOne is the plan for a single address.
func toOne(u *url.URL, change func(Proxy) (Change, error)) Plan {
	return Plan{Upstreams: map[string]*url.URL{"": u}, Change: change}
}
