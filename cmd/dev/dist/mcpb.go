package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// bundle writes the MCPB bundle of one system. Clients such as Claude Desktop install a server from it.
func (r *release) bundle(system string, program []byte) error {
	text, err := os.ReadFile("plugin/mcpb/manifest.json")
	if err != nil {
		return err
	}
	var manifest map[string]any
	if err := json.Unmarshal(text, &manifest); err != nil {
		return fmt.Errorf("plugin/mcpb/manifest.json: %w", err)
	}
	name := "server/mcp-pruner" + suffix(system)
	manifest["version"] = r.version
	manifest["compatibility"] = map[string]any{"platforms": []string{npmNames[system].os}}
	server, _ := manifest["server"].(map[string]any)
	config, _ := server["mcp_config"].(map[string]any)
	if config == nil {
		return fmt.Errorf("plugin/mcpb/manifest.json: no server.mcp_config")
	}
	server["entry_point"], config["command"] = name, "${__dirname}/"+name
	text, err = json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	files := []file{
		{name: "manifest.json", mode: 0o644, data: append(text, '\n')},
		{name: name, mode: 0o755, data: program},
	}
	for _, f := range r.extras {
		if strings.HasSuffix(f.name, ".txt") || f.name == "LICENSE" {
			files = append(files, f)
		}
	}
	return r.write(fmt.Sprintf("mcp-pruner_%s_%s.mcpb", r.version, strings.ReplaceAll(system, "/", "_")), zipped(files, r.when))
}
