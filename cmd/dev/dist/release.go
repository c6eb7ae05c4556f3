package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

// allSystems are the systems that a release is built for, as GOOS/GOARCH.
var allSystems = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// release builds the files of one commit.
type release struct {
	out     string // folder to write to
	version string
	commit  string    // full hash
	when    time.Time // time of the commit, which every file in an archive gets
	extras  []file    // files that every archive has in addition to the program
	built   []string  // systems built so far
}

// file is one file of an archive.
type file struct {
	name string
	mode os.FileMode
	data []byte
	link string // target, if the file is a symbolic link
}

func newRelease(ctx context.Context, out string) (*release, error) {
	text, err := output(ctx, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return nil, err
	}
	commit, seconds, _ := strings.Cut(strings.TrimSpace(text), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("date of the commit: %w", err)
	}
	r := &release{out: out, version: verbs.Release, commit: commit, when: time.Unix(unix, 0).UTC()}
	if r.extras, err = r.documents(); err != nil {
		return nil, err
	}
	notices, err := notices(ctx)
	if err != nil {
		return nil, err
	}
	r.extras = append(r.extras, file{name: "THIRD_PARTY_LICENSES.txt", mode: 0o644, data: notices})
	return r, os.MkdirAll(out, 0o755)
}

// build compiles the program for one system and writes its archive and packages.
func (r *release) build(ctx context.Context, system string) error {
	if !slices.Contains(allSystems, system) {
		return fmt.Errorf("not one of %s", strings.Join(allSystems, ", "))
	}
	binary := filepath.Join(r.out, "bin", strings.ReplaceAll(system, "/", "_"), "mcp-pruner"+suffix(system))
	if err := r.compile(ctx, system, binary); err != nil {
		return err
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	r.built = append(r.built, system)
	for _, pack := range []func(system string, program []byte) error{r.archive, r.linuxPackages, r.platformPackage, r.bundle} {
		if err := pack(system, program); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) compile(ctx context.Context, system, to string) error {
	goos, goarch, _ := strings.Cut(system, "/")
	link := fmt.Sprintf("-s -w -buildid= -X %[1]s/cmd/internal/verbs.commit=%[2]s -X %[1]s/cmd/internal/verbs.date=%[3]s",
		verbs.Repository, r.commit, r.when.Format(time.DateOnly))
	lean, err := exec.CommandContext(ctx, "sh", ".ci/lean").Output()
	if err != nil {
		return fmt.Errorf(".ci/lean: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", strings.TrimSpace(string(lean)), "-trimpath", "-buildvcs=false", "-ldflags", link, "-o", to, verbs.Repository+"/cmd/mcp-pruner")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, text)
	}
	return nil
}

// archive writes the archive of one system: a .tar.gz, or a .zip for Windows.
func (r *release) archive(system string, program []byte) error {
	name := fmt.Sprintf("mcp-pruner_%s_%s", r.version, strings.ReplaceAll(system, "/", "_"))
	files := append([]file{{name: "mcp-pruner" + suffix(system), mode: 0o755, data: program}}, r.extras...)
	if strings.HasPrefix(system, "windows/") {
		script := "@\"%~dp0mcp-pruner.exe\" serve %*\r\n"
		files = append(files, file{name: "jeeves-mcp-pruner.cmd", mode: 0o755, data: []byte(script)})
		return r.write(name+".zip", zipped(files, r.when))
	}
	files = append(files, file{name: "jeeves-mcp-pruner", link: "mcp-pruner"})
	for i := range files {
		files[i].name = name + "/" + files[i].name
	}
	return r.write(name+".tar.gz", tarred(files, r.when))
}

// finish writes the files that do not depend on the system: the main npm package, the SBOM, the files of package managers and the checksums.
func (r *release) finish() error {
	if err := r.mainPackage(); err != nil {
		return err
	}
	if err := r.sbom(); err != nil {
		return err
	}
	if err := errors.Join(r.formula(), r.scoop()); err != nil {
		return err
	}
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, e := range entries {
		if e.IsDir() || e.Name() == checksums {
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(sum[:]), e.Name())
	}
	return r.write(checksums, sums.Bytes())
}

const checksums = "checksums.txt"

func (r *release) write(name string, data []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}

// suffix returns the ending of a program's file name on a system.
func suffix(system string) string {
	if strings.HasPrefix(system, "windows/") {
		return ".exe"
	}
	return ""
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out), nil
}
