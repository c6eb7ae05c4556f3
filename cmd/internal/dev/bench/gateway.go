package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"
)

// gatewayCost times calls of a bare server, asked directly and through the gateway, in
// blocks that alternate. What is above the server's own time is the gateway's.
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
	through, err := start(root, []string{"XDG_CACHE_HOME=" + root}, binary, "gateway", "--mode", "trim", path)
	if err != nil {
		return err
	}
	var times [2][]time.Duration
	const blocks, perBlock = 40, 250
	for block := range blocks {
		for i, c := range []*client{direct, through} {
			if block == 0 {
				if _, err := c.ask(initialize); err != nil {
					return err
				}
			}
			for n := range perBlock {
				took, err := c.call(n+1, "read", map[string]any{})
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
		fmt.Fprintf(w, "%s\t%v\t%v\t\n", name, percentile(times[i], .5), percentile(times[i], .99))
	}
	fmt.Fprintf(w, "the gateway's own (target p50: 150µs)\t%v\t%v\t\n",
		percentile(times[1], .5)-percentile(times[0], .5), percentile(times[1], .99)-percentile(times[0], .99))
	for _, c := range []*client{direct, through} {
		if err := c.close(); err != nil {
			return err
		}
	}
	return nil
}
