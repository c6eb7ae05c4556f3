package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// gatewayCost times calls of a bare server, directly and through the gateway, in alternating blocks. The difference
// is the gateway's own time. Then it times the grouping of a large list.
func gatewayCost(w *tabwriter.Writer, binary, root string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"bare": map[string]any{"command": self, "args": []string{bareArgument}}}})
	if err != nil {
		return err
	}
	path := filepath.Join(root, "servers.json")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		return err
	}
	direct, err := start(root, nil, self, bareArgument)
	if err != nil {
		return err
	}
	through, err := start(root, []string{"XDG_CACHE_HOME=" + root}, binary, "gateway", "--mode", "trim", "--bare", path)
	if err != nil {
		return err
	}
	var times [2][]time.Duration
	var names [2]string // a gateway gives some tools a name of its own
	const blocks, perBlock = 40, 250
	for block := range blocks {
		for i, c := range []*client{direct, through} {
			if block == 0 {
				if names[i], err = c.firstTool(); err != nil {
					return err
				}
			}
			for n := range perBlock {
				took, err := c.call(n+1, names[i], map[string]any{})
				if err != nil {
					return err
				}
				if block > 0 { // the first block warms up
					times[i] = append(times[i], took)
				}
			}
		}
	}
	fmt.Fprintln(w, "one call of an upstream server\tp50\tp99\t")
	for i, name := range []string{"asked directly", "through the gateway"} {
		record("Gateway", name, times[i])
		fmt.Fprintf(w, "%s\t%v\t%v\t\n", name, percentile(times[i], .5), percentile(times[i], .99))
	}
	fmt.Fprintf(w, "the gateway's own (target p50: 150µs)\t%v\t%v\t\n",
		percentile(times[1], .5)-percentile(times[0], .5), percentile(times[1], .99)-percentile(times[0], .99))
	for _, c := range []*client{direct, through} {
		if err := c.close(); err != nil {
			return err
		}
	}
	return groupingCost(w)
}

// crowdOfServers returns 70 servers with 527 tools in total. A public benchmark with annotated tasks has the same
// numbers.
func crowdOfServers() ([]upstream.Server, error) {
	verbs := []string{"list", "get", "create", "update", "delete", "search", "archive", "export"}
	nouns := []string{"invoice", "customer", "report", "calendar_event", "document", "ticket", "image"}
	var servers []upstream.Server
	for n, left := 0, 527; n < 70; n++ {
		count := min(left-(69-n), 4+n%8)
		if n == 69 {
			count = left
		}
		left -= count
		var list []string
		for i := range count {
			list = append(list, fmt.Sprintf(`{"name":"%s_%s","description":%q,"inputSchema":{"type":"object","properties":{`+
				`"id":{"type":"string","description":"The identifier of the entry, as list returns it."},`+
				`"limit":{"type":"integer","minimum":1,"maximum":100,"default":20,"description":"How many entries to return at most."},`+
				`"format":{"type":"string","enum":["short","full","raw"],"description":"How much of each entry to return."},`+
				`"filter":{"type":"object","properties":{"since":{"type":"string","format":"date-time"},"owner":{"type":"string"}}}},"required":["id"]}}`,
				verbs[i%len(verbs)], nouns[(n+i/len(verbs))%len(nouns)],
				strings.Repeat("Does what its name says with the entries of the account. ", 1+n%4)))
		}
		name := fmt.Sprintf("server%d", n)
		tools, _, err := upstream.ParseList(name, json.RawMessage(`{"tools":[`+strings.Join(list, ",")+`]}`))
		if err != nil {
			return nil, err
		}
		servers = append(servers, upstream.Server{Name: name, Tools: tools})
	}
	return servers, nil
}

// groupingCost times the building of a gateway's tool list for many servers.
func groupingCost(w *tabwriter.Writer) error {
	servers, err := crowdOfServers()
	if err != nil {
		return err
	}
	var times []time.Duration
	var list []upstream.Exposed
	for range 20 {
		began := time.Now()
		list = upstream.Build(servers, upstream.Grouped, upstream.Options{Target: upstream.DefaultTarget, Tokens: tokens.Estimate})
		times = append(times, time.Since(began))
	}
	record("Grouping", "70 servers", times)
	fmt.Fprintf(w, "70 servers with 527 tools grouped to %d (target p50: 200ms)\t%v\t%v\t\n", len(list), percentile(times, .5), percentile(times, .99))
	return nil
}
