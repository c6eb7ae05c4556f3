package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

// npmNames maps Go's name of a system to Node's names of the operating system and the processor.
var npmNames = map[string]struct{ os, cpu string }{
	"linux/amd64": {"linux", "x64"}, "linux/arm64": {"linux", "arm64"},
	"darwin/amd64": {"darwin", "x64"}, "darwin/arm64": {"darwin", "arm64"},
	"windows/amd64": {"win32", "x64"}, "windows/arm64": {"win32", "arm64"},
}

// platformName returns the name of a system's npm package.
func platformName(system string) string {
	n := npmNames[system]
	return "@mcp-pruner/" + n.os + "-" + n.cpu
}

// platformPackage writes the npm package of one system. It has the program and the licences, and no script that runs at
// installation.
func (r *release) platformPackage(system string, program []byte) error {
	n := npmNames[system]
	manifest, err := json.MarshalIndent(struct {
		Name        string   `json:"name"`
		Version     string   `json:"version"`
		Description string   `json:"description"`
		License     string   `json:"license"`
		Repository  string   `json:"repository"`
		OS          []string `json:"os"`
		CPU         []string `json:"cpu"`
	}{platformName(system), r.version, "mcp-pruner for " + n.os + " on " + n.cpu, "Apache-2.0", "https://" + verbs.Repository,
		[]string{n.os}, []string{n.cpu}}, "", "  ")
	if err != nil {
		return err
	}
	files := []file{
		{name: "package/package.json", mode: 0o644, data: append(manifest, '\n')},
		{name: "package/bin/mcp-pruner" + suffix(system), mode: 0o755, data: program},
	}
	for _, f := range r.extras {
		if strings.HasSuffix(f.name, ".txt") || f.name == "LICENSE" {
			f.name = "package/" + f.name
			files = append(files, f)
		}
	}
	return r.write(fmt.Sprintf("mcp-pruner-%s-%s-%s.tgz", n.os, n.cpu, r.version), tarred(files, r.when))
}

// mainPackage writes the npm package that users install. The packages of all systems are its optional dependencies, and
// its command starts the program of the one that npm has installed.
func (r *release) mainPackage() error {
	text, err := os.ReadFile("npm/package.json")
	if err != nil {
		return err
	}
	var manifest map[string]any
	if err := json.Unmarshal(text, &manifest); err != nil {
		return fmt.Errorf("npm/package.json: %w", err)
	}
	manifest["version"] = r.version
	platforms := make(map[string]string)
	for _, system := range allSystems {
		platforms[platformName(system)] = r.version
	}
	manifest["optionalDependencies"] = platforms
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // keeps ">=18" readable
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(manifest); err != nil {
		return err
	}
	files := []file{{name: "package/package.json", mode: 0o644, data: b.Bytes()}}
	for _, name := range []string{"npm/mcp-pruner.js", "npm/jeeves-mcp-pruner.js", "npm/program.js", "npm/README.md", "LICENSE"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, "mcp-pruner.js") {
			mode = 0o755
		}
		files = append(files, file{name: "package/" + strings.TrimPrefix(name, "npm/"), mode: mode, data: data})
	}
	return r.write(fmt.Sprintf("mcp-pruner-%s.tgz", r.version), tarred(files, r.when))
}
