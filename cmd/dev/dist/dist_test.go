package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

// TestArchives: unpacking an archive gives the packed files, and equal files give equal archives.
func TestArchives(t *testing.T) {
	when := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	files := []file{{name: "b", mode: 0o755, data: []byte("program")}, {name: "a/c", mode: 0o644, data: []byte("text")}}
	assert.Equal(t, tarred(files, when), tarred(files, when))
	assert.Equal(t, zipped(files, when), zipped(files, when))

	z, err := zip.NewReader(bytes.NewReader(zipped(files, when)), int64(len(zipped(files, when))))
	require.NoError(t, err)
	require.Len(t, z.File, 2)
	assert.Equal(t, os.FileMode(0o755), z.File[0].Mode())

	linked := append(files, file{name: "l", link: "b"})
	names := untar(t, tarred(linked, when))
	assert.Equal(t, map[string]string{"b": "program", "a/c": "text", "l": "-> b"}, names)
}

func untar(t *testing.T, data []byte) map[string]string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	found := make(map[string]string)
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		if err == io.EOF {
			return found
		}
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		if header.Typeflag == tar.TypeSymlink {
			text = []byte("-> " + header.Linkname)
		}
		found[header.Name] = string(text)
	}
}

// TestPackages checks the archives, npm packages and MCPB bundles of all systems. A short text takes the place of the
// program.
func TestPackages(t *testing.T) {
	out := t.TempDir()
	t.Chdir("../../..")
	r := &release{out: out, version: "1.2.3", commit: strings.Repeat("a", 40), when: time.Unix(1e9, 0).UTC()}
	var err error
	r.extras, err = r.documents()
	require.NoError(t, err)
	for _, system := range allSystems {
		require.NoError(t, r.archive(system, []byte("program")))
		require.NoError(t, r.linuxPackages(system, []byte("program")))
		require.NoError(t, r.platformPackage(system, []byte("program")))
		require.NoError(t, r.bundle(system, []byte("program")))
	}
	require.NoError(t, r.mainPackage())

	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		return data
	}
	archive := untar(t, read("mcp-pruner_1.2.3_linux_arm64.tar.gz"))
	for _, name := range []string{"LICENSE", "README.md", "completions/mcp-pruner.bash", "completions/_mcp-pruner", "man/man1/mcp-pruner.1", "man/man1/mcp-pruner-run.1"} {
		assert.NotEmpty(t, archive["mcp-pruner_1.2.3_linux_arm64/"+name], name)
	}
	for _, link := range regexp.MustCompile(`\]\(([^)#:]+)\)|src="([^"]+)"`).FindAllStringSubmatch(archive["mcp-pruner_1.2.3_linux_arm64/README.md"], -1) {
		assert.NotEmpty(t, archive["mcp-pruner_1.2.3_linux_arm64/"+link[1]+link[2]], "the README of the archive links to %s", link[0])
	}
	assert.Equal(t, "-> mcp-pruner", archive["mcp-pruner_1.2.3_linux_arm64/jeeves-mcp-pruner"])

	windows := read("mcp-pruner_1.2.3_windows_amd64.zip")
	z, err := zip.NewReader(bytes.NewReader(windows), int64(len(windows)))
	require.NoError(t, err)
	assert.Equal(t, "mcp-pruner.exe", z.File[0].Name)

	var npm struct {
		Name, Version        string
		OptionalDependencies map[string]string
	}
	require.NoError(t, json.Unmarshal([]byte(untar(t, read("mcp-pruner-1.2.3.tgz"))["package/package.json"]), &npm))
	assert.Equal(t, "mcp-pruner 1.2.3", npm.Name+" "+npm.Version)
	assert.Len(t, npm.OptionalDependencies, 6)
	for name, version := range npm.OptionalDependencies {
		assert.Equal(t, "1.2.3", version)
		system := strings.TrimPrefix(name, "@mcp-pruner/")
		assert.Contains(t, untar(t, read("mcp-pruner-"+system+"-1.2.3.tgz"))["package/package.json"], `"name": "`+name+`"`)
	}
}

// TestLinuxPackages: dpkg and rpm install and remove the packages in a folder, where each file has its place. The same files give the
// same bytes.
func TestLinuxPackages(t *testing.T) {
	t.Chdir("../../..")
	places := []string{"/usr/bin/jeeves-mcp-pruner", "/usr/bin/mcp-pruner", "/usr/share/bash-completion/completions/mcp-pruner", "/usr/share/doc/mcp-pruner/README.md",
		"/usr/share/doc/mcp-pruner/copyright", "/usr/share/fish/vendor_completions.d/mcp-pruner.fish", "/usr/share/man/man1/mcp-pruner-run.1"}
	for format, c := range map[string]struct {
		zsh, file       string
		install, remove []string
	}{
		"deb": {"/usr/share/zsh/vendor-completions/_mcp-pruner", "mcp-pruner_1.2.3-1_amd64.deb",
			[]string{"dpkg", "--force-not-root", "--force-architecture", "--log=/dev/null", "--root=ROOT", "--install", "FILE"},
			[]string{"dpkg", "--force-not-root", "--log=/dev/null", "--root=ROOT", "--purge", "mcp-pruner"}},
		"rpm": {"/usr/share/zsh/site-functions/_mcp-pruner", "mcp-pruner-1.2.3-1.x86_64.rpm",
			[]string{"rpm", "--root=ROOT", "--ignorearch", "--nodeps", "--install", "FILE"},
			[]string{"rpm", "--root=ROOT", "--nodeps", "--erase", "mcp-pruner"}},
	} {
		t.Run(format, func(t *testing.T) {
			file := packedTwice(t, format, c.file)
			if _, err := exec.LookPath(c.install[0]); err != nil {
				t.Skipf("%s is not here: the package is not installed", c.install[0])
			}
			root := systemRoot(t)
			run := func(command []string) {
				for i, arg := range command {
					command[i] = strings.NewReplacer("ROOT", root, "FILE", file).Replace(arg)
				}
				text, err := exec.Command(command[0], command[1:]...).CombinedOutput()
				require.NoError(t, err, "%s", text)
			}
			run(c.install)
			for _, place := range append(places, c.zsh) {
				assert.FileExists(t, filepath.Join(root, place))
			}
			program, err := os.Stat(filepath.Join(root, "/usr/bin/mcp-pruner"))
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o755), program.Mode())
			link, err := os.Readlink(filepath.Join(root, "/usr/bin/jeeves-mcp-pruner"))
			require.NoError(t, err)
			assert.Equal(t, "mcp-pruner", link)
			run(c.remove)
			for _, place := range append(places, c.zsh) {
				assert.NoFileExists(t, filepath.Join(root, place))
			}
			assert.NoDirExists(t, filepath.Join(root, documents))
		})
	}
}

// packedTwice packs twice, compares the bytes, and returns the path of the second package.
func packedTwice(t *testing.T, format, name string) string {
	t.Helper()
	var packed [2][]byte
	path := ""
	for i := range packed {
		r := &release{out: t.TempDir(), version: "1.2.3", when: time.Unix(1e9, 0).UTC()}
		var err error
		r.extras, err = r.documents()
		require.NoError(t, err)
		require.NoError(t, r.linuxPackage(format, "amd64", []byte("program")))
		path = filepath.Join(r.out, name)
		packed[i], err = os.ReadFile(path)
		require.NoError(t, err)
	}
	require.True(t, bytes.Equal(packed[0], packed[1]), "the same files give the same bytes")
	return path
}

// systemRoot returns the root of a system without packages.
func systemRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, needed := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/rpm", "tmp"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, needed), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644))
	return root
}

// TestNpmSaysWhatIsMissing: if npm has not installed the system's package, the command explains why and how to get the
// program.
func TestNpmSaysWhatIsMissing(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	out := t.TempDir()
	t.Chdir("../../..")
	require.NoError(t, (&release{out: out, version: "1.2.3"}).mainPackage())
	packed, err := os.ReadFile(filepath.Join(out, "mcp-pruner-1.2.3.tgz"))
	require.NoError(t, err)
	for name, text := range untar(t, packed) {
		path := filepath.Join(out, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	system := filepath.Join(out, "system.js")
	for _, c := range []struct{ platform, want string }{
		{"win32", "mcp-pruner: its package @mcp-pruner/win32-arm64 is missing. Install mcp-pruner again, without --omit=optional or --no-optional.\n"},
		{"freebsd", "mcp-pruner: there is no package for freebsd on arm64. The source builds with Go 1.26 or later: go install ./cmd/mcp-pruner\n"},
	} {
		script := "Object.defineProperty(process, 'platform', {value: '" + c.platform + "'}); Object.defineProperty(process, 'arch', {value: 'arm64'})"
		require.NoError(t, os.WriteFile(system, []byte(script), 0o644))
		text, err := exec.Command(node, "-r", system, filepath.Join(out, "package/mcp-pruner.js"), "version").CombinedOutput()
		assert.Equal(t, c.want, string(text))
		assert.Error(t, err)
	}
}

// TestManPages: the date has the form that man accepts, and the descriptions of options are indented.
func TestManPages(t *testing.T) {
	r := &release{version: "1.2.3", when: time.Unix(1e9, 0).UTC()}
	pages, err := r.manPages(verbs.Root(command.Process{Stdin: bytes.NewReader(nil), Stdout: io.Discard, Stderr: io.Discard}))
	require.NoError(t, err)
	require.Greater(t, len(pages), 30)
	for _, page := range pages {
		text := string(page.data)
		assert.Regexp(t, `(?m)^\.TH "MCP-PRUNER.*" "1" "2001-09-09" "mcp-pruner 1\.2\.3" "mcp-pruner"$`, text, page.name)
		assert.NotContains(t, text, "\n\t", page.name)
		assert.Contains(t, text, ".TP\n\\fB-h\\fP, \\fB--help\\fP\nhelp for ", page.name)
		if mandoc, err := exec.LookPath("mandoc"); err == nil {
			lint := exec.Command(mandoc, "-T", "lint", "-W", "warning")
			lint.Stdin = bytes.NewReader(page.data)
			out, err := lint.CombinedOutput()
			assert.NoError(t, err, "%s: %s", page.name, out)
		}
	}
}

// TestOneVersion: every manifest that users install from has the program's version.
func TestOneVersion(t *testing.T) {
	for _, name := range []string{"npm/package.json", "plugin/mcpb/manifest.json", "plugin/claude/.claude-plugin/plugin.json",
		"plugin/claude-tools/.claude-plugin/plugin.json", "server.json"} {
		data, err := os.ReadFile(filepath.Join("../../..", name))
		require.NoError(t, err)
		var manifest struct{ Version string }
		require.NoError(t, json.Unmarshal(data, &manifest), name)
		assert.Equal(t, verbs.Release, manifest.Version, name)
	}
}

func TestLicenseName(t *testing.T) {
	for text, want := range map[string]string{
		"  Apache License\n   Version 2.0, January 2004":                                "Apache-2.0",
		"Permission is hereby granted, free of charge, to any\nperson obtaining a copy": "MIT",
		"Redistributions in binary form must reproduce ... Neither the name of the":     "BSD-3-Clause",
		"Redistributions in binary form must reproduce the above":                       "BSD-2-Clause",
		"All rights reserved.": "",
	} {
		assert.Equal(t, want, licenseName(text), text)
	}
}

// TestComponent: a component has the SPDX identifier of its licence and a package URL.
func TestComponent(t *testing.T) {
	text, err := json.Marshal(newComponent("library", "example.org/x", "v1.0.0", "MIT"))
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"library","bom-ref":"pkg:golang/example.org/x@v1.0.0","name":"example.org/x","version":"v1.0.0",
		"purl":"pkg:golang/example.org/x@v1.0.0","licenses":[{"license":{"id":"MIT"}}]}`, string(text))
}

// TestDockerfile: the Dockerfile's variables are known settings, and its commands are verbs of the program.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("../../../Dockerfile")
	require.NoError(t, err)
	known := make(map[string]bool)
	for _, r := range append(settings.Rows(settings.HTTP), settings.Rows(settings.Pruner)...) {
		known[r.Name] = true
	}
	root := verbs.Root(command.Process{Stdin: bytes.NewReader(nil), Stdout: io.Discard, Stderr: io.Discard})
	verbs := 0
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "ENV":
			for _, pair := range strings.Fields(rest) {
				name, _, _ := strings.Cut(pair, "=")
				assert.True(t, known[name], "%s is no setting", name)
			}
		case "CMD", "HEALTHCHECK":
			var args []string
			require.NoError(t, json.Unmarshal([]byte(rest[strings.Index(rest, "["):]), &args))
			verb := args[0]
			if word == "HEALTHCHECK" {
				verb = args[1]
			}
			c, _, err := root.Find([]string{verb})
			require.NoError(t, err)
			assert.Equal(t, verb, c.Name())
			verbs++
		}
	}
	assert.Equal(t, 2, verbs)
	assert.Contains(t, string(text), "USER 65532:65532")
	assert.Contains(t, string(text), "github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs.commit=")
}
