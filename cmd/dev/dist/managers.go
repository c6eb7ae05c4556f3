package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

// Names of the files for package managers.
const (
	formulaName = "mcp-pruner.rb"   // of Homebrew
	scoopName   = "mcp-pruner.json" // of Scoop
)

const description = "Sends coding agents only the lines that matter of what their tools return"

// download returns the address at which a release has the archive of a system, and the archive's checksum.
func (r *release) download(system string) (url, sum string, err error) {
	ending := ".tar.gz"
	if strings.HasPrefix(system, "windows/") {
		ending = ".zip"
	}
	name := fmt.Sprintf("mcp-pruner_%s_%s%s", r.version, strings.ReplaceAll(system, "/", "_"), ending)
	data, err := os.ReadFile(filepath.Join(r.out, name))
	if err != nil {
		return "", "", err
	}
	hash := sha256.Sum256(data)
	return fmt.Sprintf("https://%s/releases/download/v%s/%s", verbs.Repository, r.version, name), hex.EncodeToString(hash[:]), nil
}

// formula writes the formula of Homebrew for the systems that were built. Nobody has installed by it yet.
func (r *release) formula() error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Written by make dist for version %s. Untried: no Homebrew was there to try it with.\nclass McpPruner < Formula\n  desc %q\n  homepage %q\n  version %q\n  license \"Apache-2.0\"\n",
		r.version, description, "https://"+verbs.Repository, r.version)
	for _, system := range [][2]string{{"darwin", "macos"}, {"linux", "linux"}} {
		var parts bytes.Buffer
		for _, arch := range [][2]string{{"arm64", "arm"}, {"amd64", "intel"}} {
			name := system[0] + "/" + arch[0]
			if !slices.Contains(r.built, name) {
				continue
			}
			url, sum, err := r.download(name)
			if err != nil {
				return err
			}
			fmt.Fprintf(&parts, "    on_%s do\n      url %q\n      sha256 %q\n    end\n", arch[1], url, sum)
		}
		if parts.Len() > 0 {
			fmt.Fprintf(&b, "\n  on_%s do\n%s  end\n", system[1], parts.String())
		}
	}
	b.WriteString(`
  def install
    bin.install "mcp-pruner"
    bin.install_symlink "mcp-pruner" => "jeeves-mcp-pruner"
    generate_completions_from_executable(bin/"mcp-pruner", "completion")
  end

  def caveats
    "mcp-pruner init sets up the clients that are installed; mcp-pruner uninstall takes everything out again."
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/mcp-pruner version")
  end
end
`)
	return r.write(formulaName, b.Bytes())
}

// scoop writes the manifest of Scoop. Nobody has installed by it yet.
func (r *release) scoop() error {
	type download struct {
		URL  string `json:"url"`
		Hash string `json:"hash"`
	}
	architectures := map[string]download{}
	for goarch, name := range map[string]string{"amd64": "64bit", "arm64": "arm64"} {
		if system := "windows/" + goarch; slices.Contains(r.built, system) {
			url, sum, err := r.download(system)
			if err != nil {
				return err
			}
			architectures[name] = download{url, sum}
		}
	}
	if len(architectures) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(map[string]any{
		"##": "Written by make dist. Untried: no Scoop was there to try it with.", "version": r.version, "description": description,
		"homepage": "https://" + verbs.Repository, "license": "Apache-2.0", "architecture": architectures,
		"bin": []string{"mcp-pruner.exe", "jeeves-mcp-pruner.cmd"}, "notes": "mcp-pruner init sets up the clients that are installed.",
	}, "", "    ")
	if err != nil {
		return err
	}
	return r.write(scoopName, append(text, '\n'))
}
