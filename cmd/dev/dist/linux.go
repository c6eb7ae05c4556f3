package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

// documents is the folder of a package for its README, changelog and licences.
const documents = "/usr/share/doc/mcp-pruner/"

// zshFolders are where the distributions of each format look for completions of zsh.
var zshFolders = map[string]string{"deb": "/usr/share/zsh/vendor-completions/", "rpm": "/usr/share/zsh/site-functions/"}

// linuxPackages writes a .deb and an .rpm for one Linux architecture.
func (r *release) linuxPackages(system string, program []byte) error {
	arch, isLinux := strings.CutPrefix(system, "linux/")
	if !isLinux {
		return nil
	}
	for format := range zshFolders {
		if err := r.linuxPackage(format, arch, program); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	return nil
}

func (r *release) linuxPackage(format, arch string, program []byte) error {
	dir, err := os.MkdirTemp("", format) // nfpm reads what it packs from files
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	owner := strings.Split(verbs.Repository, "/")[1]
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "mcp-pruner", Arch: arch, Platform: "linux", Version: r.version, Release: "1", Section: "utils", License: "Apache-2.0",
		Homepage: "https://" + verbs.Repository, Maintainer: "mcp-pruner maintainers <" + owner + "@users.noreply.github.com>",
		Description: "Sends coding agents only the lines of a tool's output that matter", MTime: r.when, DisableGlobbing: true,
		Overridables: nfpm.Overridables{Recommends: []string{"ripgrep"}, RPM: nfpm.RPM{BuildHost: "localhost"}},
	})
	if format == "rpm" { // dpkg removes an empty folder by itself, rpm only one that it owns
		info.Contents = files.Contents{{Destination: documents, Type: files.TypeDir, FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: r.when, Owner: "root", Group: "root"}}}
	}
	for _, f := range append([]file{{name: "mcp-pruner", mode: 0o755, data: program}, {name: "jeeves-mcp-pruner", link: "mcp-pruner"}}, r.extras...) {
		if info.Contents, err = r.packed(info.Contents, dir, format, f); err != nil {
			return err
		}
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := packager.Package(info, &b); err != nil {
		return err
	}
	return r.write(packager.ConventionalFileName(info), b.Bytes())
}

// packed adds a file of the archives to a package's contents, if it has a place in a system.
func (r *release) packed(contents files.Contents, dir, format string, f file) (files.Contents, error) {
	place := placeOf(f.name, format)
	if place == "" {
		return contents, nil
	}
	info := &files.ContentFileInfo{Mode: f.mode, MTime: r.when, Owner: "root", Group: "root"}
	if f.link != "" {
		return append(contents, &files.Content{Source: f.link, Destination: place, Type: files.TypeSymlink, FileInfo: info}), nil
	}
	source := filepath.Join(dir, filepath.FromSlash(place))
	if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
		return nil, err
	}
	return append(contents, &files.Content{Source: source, Destination: place, FileInfo: info}), os.WriteFile(source, f.data, 0o644)
}

// placeOf returns where a system has a file of the archives, or "" if a package does not have it. Pages other than the README are
// left out: nobody looks for them there.
func placeOf(name, format string) string {
	switch base := path.Base(name); {
	case name == "mcp-pruner" || name == "jeeves-mcp-pruner":
		return "/usr/bin/" + name
	case strings.HasPrefix(name, "man/"):
		return "/usr/share/" + name
	case strings.HasSuffix(name, ".bash"):
		return "/usr/share/bash-completion/completions/mcp-pruner"
	case strings.HasSuffix(name, ".fish"):
		return "/usr/share/fish/vendor_completions.d/" + base
	case name == "completions/_mcp-pruner":
		return zshFolders[format] + base
	case name == "LICENSE":
		return documents + "copyright"
	case name == "README.md" || name == "CHANGELOG.md" || name == "THIRD_PARTY_LICENSES.txt":
		return documents + name
	}
	return ""
}
