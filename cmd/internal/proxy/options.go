package proxy

import (
	"net/url"

	"github.com/spf13/pflag"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
)

// Policy selects what the proxy changes in requests.
type Policy string

// The policies.
const (
	GC    Policy = "gc"
	Prune Policy = "prune"
	Both  Policy = "both"
	Off   Policy = "off"
)

// Flag returns the policy as the value of an option.
func (p *Policy) Flag() pflag.Value { return command.Choice(p, GC, Prune, Both, Off) }

// Help texts of the options that the proxy and a run with a proxy have.
const (
	PolicyUsage = "clear old results, prune fresh ones, both, or pass everything through"
	StoreUsage  = "the ledger's file (default: MCP_PRUNER_GC_STORE, else in the user's state directory)"
)

// Options are the checked options of a proxy.
type Options struct {
	Port     int                 // 0: any free one
	Door     settings.Door       // how it may be reached, and by whom
	Upstream *url.URL            // nil: each request goes to the provider that it names
	Routes   map[string]*url.URL // where requests go whose path begins with a segment
	Policy   Policy
	Store    string
	Note     string // a new file for the first request of a conversation; "": none is recorded
	Version  string
}
