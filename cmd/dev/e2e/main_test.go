//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper/signaltest"
)

var update = flag.Bool("update", false, "write the transcripts of testdata/runner/real")

// clients and more are the folders with the installed clients. pruner is the path of the program under test.
var clients, more, pruner string

// missing is the error that prevented the installation of the clients, missingMore that of the clients in clients/more.
var missing, missingMore error

// TestMain installs the clients and builds the program. If npm is not available, every test is skipped, and a message
// that is hard to overlook says so.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "fake-server" {
		fakeServer(os.Args[2])
	}
	flag.Parse()
	if missing = install(); missing != nil {
		skipLoudly()
		os.Exit(m.Run())
	}
	if more, missingMore = installFrom("clients/more/package.json", "mcp-pruner-e2e-more"); missingMore != nil {
		fmt.Println("!! without opencode and Gemini CLI:", missingMore)
	}
	bin, err := os.MkdirTemp("", "e2e")
	if err == nil {
		pruner = filepath.Join(bin, "mcp-pruner")
		err = command(10*time.Minute, "..", "go", "build", "-o", pruner, "github.com/mcp-pruner/mcp-pruner/cmd/mcp-pruner")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := signaltest.Tests{M: m}.Run()
	_ = os.RemoveAll(bin)
	os.Exit(code)
}

// skipLoudly prints that all tests are skipped. If E2E_REQUIRED is set, it exits with an error.
func skipLoudly() {
	line := strings.Repeat("!", 78)
	fmt.Printf("%s\n!! END-TO-END TESTS SKIPPED: no real client is run.\n!! %v\n%s\n", line,
		strings.ReplaceAll(missing.Error(), "\n", "\n!! "), line)
	if os.Getenv("E2E_REQUIRED") != "" {
		os.Exit(1)
	}
}

// install installs the packages that clients/package.json pins.
func install() (err error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return fmt.Errorf("the clients are pinned for linux/amd64, this is %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	clients, err = installFrom("clients/package.json", "mcp-pruner-e2e")
	return err
}

// installFrom installs the packages that a file pins into a folder of the user's cache, unless the folder has them
// already.
func installFrom(file, name string) (dir string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(cache, name)
	pinned, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if os.Getenv(newestEnv) != "" && pinnedClients.Match(pinned) {
		pinned, dir = pinnedClients.ReplaceAll(pinned, []byte(`${1}"latest"`)), dir+"-newest"
		if info, err := os.Stat(filepath.Join(dir, "installed.json")); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			if err := os.RemoveAll(dir); err != nil {
				return "", err
			}
		}
	}
	done := filepath.Join(dir, "installed.json")
	if there, err := os.ReadFile(done); err == nil && bytes.Equal(there, pinned) {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), pinned, 0o644); err != nil {
		return "", err
	}
	err = command(10*time.Minute, dir, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock",
		"--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=2000")
	if err != nil {
		return "", fmt.Errorf("npm could not install what %s pins: %w", file, err)
	}
	return dir, os.WriteFile(done, pinned, 0o644)
}

func command(limit time.Duration, dir, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, bytes.TrimSpace(out))
	}
	return nil
}

// installed returns the absolute path of a path below node_modules; an absolute path as it is.
func installed(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	if path := filepath.Join(more, "node_modules", path); exists(path) {
		return path
	}
	return filepath.Join(clients, "node_modules", path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// fakeServer is an MCP server that fails in the given way. It never returns.
func fakeServer(how string) {
	switch how {
	case "exit":
		os.Exit(3)
	case "die": // right after the handshake
		fakeHandshake()
		os.Exit(3)
	case "team":
		teamServer()
		os.Exit(0)
	case "hang": // ignores the end of its input, too
		for {
			time.Sleep(time.Hour)
		}
	}
	os.Exit(64)
}

// fakeHandshake answers initialize and refuses server/discover. It returns at the next request.
func fakeHandshake() {
	for in := json.NewDecoder(os.Stdin); ; {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ ProtocolVersion string }
		}
		if in.Decode(&m) != nil {
			return
		}
		switch {
		case m.Method == "initialize":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}}`+"\n",
				m.ID, m.Params.ProtocolVersion)
		case m.Method == "server/discover":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`+"\n", m.ID)
		case m.ID != nil:
			return
		}
	}
}
