package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

// module is a Go module that the program links. The exported fields are those of `go list -json`.
type module struct {
	Path, Version, Dir string

	license string   // SPDX identifier
	texts   []string // its licence and notice files
}

// modules returns the modules that the program links on any of the systems, sorted by path. The program's own module is
// left out.
func modules(ctx context.Context) ([]module, error) {
	found := make(map[string]module)
	for _, system := range []string{"linux", "darwin", "windows"} {
		text, err := output(ctx, "env", "GOOS="+system, "CGO_ENABLED=0", "go", "list", "-deps", "-json=Module", verbs.Repository+"/cmd/mcp-pruner")
		if err != nil {
			return nil, err
		}
		for decoder := json.NewDecoder(strings.NewReader(text)); ; {
			var p struct{ Module *module }
			if err := decoder.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				return nil, err
			}
			if p.Module != nil && p.Module.Version != "" {
				found[p.Module.Path] = *p.Module
			}
		}
	}
	var list []module
	for _, m := range found {
		if err := m.read(); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// read finds the licence of a module. An unknown licence is an error, because a person must check it before a release.
func (m *module) read() error {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "LICENCE") && !strings.HasPrefix(name, "COPYING") && name != "NOTICE" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			return err
		}
		m.texts = append(m.texts, string(text))
		if m.license == "" {
			m.license = licenseName(string(text))
		}
	}
	if m.license == "" {
		return fmt.Errorf("%s: no licence that is known", m.Path)
	}
	return nil
}

// licenseName returns the SPDX identifier of a licence, or "" if it is unknown. It looks for a typical phrase of each
// licence. The order matters: the BSD 3-clause licence has the 2-clause licence's phrase, too.
func licenseName(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, l := range []struct{ name, says string }{
		{"Apache-2.0", "Apache License Version 2.0"},
		{"MPL-2.0", "Mozilla Public License Version 2.0"},
		{"BSD-3-Clause", "Neither the name of"},
		{"BSD-3-Clause", "may be used to endorse or promote products"},
		{"BSD-2-Clause", "Redistributions in binary form must reproduce"},
		{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
		{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose"},
	} {
		if strings.Contains(text, l.says) {
			return l.name
		}
	}
	return ""
}

// printLicenses writes a table of the modules with their versions and licences.
func printLicenses(ctx context.Context, to io.Writer) error {
	list, err := modules(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, m := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", m.Path, m.Version, m.license)
	}
	return w.Flush()
}

// notices returns the texts of all licences, which must be distributed with the program.
func notices(ctx context.Context) ([]byte, error) {
	list, err := modules(ctx)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("mcp-pruner contains the following software.\n")
	for _, m := range list {
		fmt.Fprintf(&b, "\n%s\n%s %s (%s)\n%[1]s\n\n", strings.Repeat("=", 80), m.Path, m.Version, m.license)
		for _, text := range m.texts {
			b.WriteString(strings.TrimSpace(text) + "\n")
		}
	}
	return b.Bytes(), nil
}
