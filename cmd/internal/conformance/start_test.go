package conformance

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What initialisers may allocate: hooks start a process for every tool call.
const (
	maxInitBytes    = 64 << 10 // of a package
	maxAllInitBytes = 1 << 20  // of all packages, those of mcp-go included
)

// costlyInits are the packages of others that allocate more, with the reason why they are linked all the same.
var costlyInits = map[string]string{
	"github.com/prometheus/procfs": "client_golang/prometheus imports it for a collector that is not used here",
}

// leanFlag returns the flag with which the program that users get is built.
func leanFlag(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh to run .ci/lean with")
	}
	flag, err := exec.Command("sh", "../../../.ci/lean").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(flag))
}

// TestPackagesAllocateLittleBeforeMain judges every package that a program of mcp-go alone does not have, and their sum.
// Tables and regular expressions belong behind sync.OnceValue.
func TestPackagesAllocateLittleBeforeMain(t *testing.T) {
	program := filepath.Join(t.TempDir(), "mcp-pruner")
	out, err := exec.Command("go", "build", leanFlag(t), "-o", program, "../../mcp-pruner").CombinedOutput()
	require.NoError(t, err, "%s", out)
	bare, err := exec.Command("go", "list", "-deps", "github.com/mark3labs/mcp-go/server").Output()
	require.NoError(t, err)
	start := exec.Command(program, "version")
	start.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	start.Stderr = &trace
	require.NoError(t, start.Run())

	inBare := make(map[string]bool)
	for path := range strings.FieldsSeq(string(bare)) {
		inBare[path] = true
	}
	allocated := initAllocations(t, &trace)
	require.Contains(t, allocated, module+"fsm", "the trace lists what this program links")
	sum := 0
	for path, n := range allocated {
		sum += n
		if _, known := costlyInits[path]; known {
			assert.Greater(t, n, maxInitBytes, "%s is cheap now: remove it from the list", path)
		} else if !inBare[path] {
			assert.LessOrEqual(t, n, maxInitBytes, "bytes that %s allocates before main", path)
		}
	}
	assert.LessOrEqual(t, sum, maxAllInitBytes, "bytes that are allocated before main")
}

// TestChangedLibraryPassesItsTests runs the tests of the library that .ci/lean changes, but for the one that needs the network.
func TestChangedLibraryPassesItsTests(t *testing.T) {
	out, err := exec.Command("go", "test", leanFlag(t), "-skip", "HTTP", "github.com/santhosh-tekuri/jsonschema/v6").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// initLine is a line of GODEBUG=inittrace=1: "init fsm @2.1 ms, 0.02 ms clock, 16952 bytes, 93 allocs".
var initLine = regexp.MustCompile(`^init (\S+) @.* clock, (\d+) bytes, \d+ allocs$`)

// initAllocations returns the bytes that each package's initialiser allocated.
func initAllocations(t *testing.T, trace *bytes.Buffer) map[string]int {
	t.Helper()
	allocated := make(map[string]int)
	for lines := bufio.NewScanner(trace); lines.Scan(); {
		m := initLine.FindStringSubmatch(lines.Text())
		require.NotNil(t, m, "%s", lines.Text())
		n, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		allocated[m[1]] = n
	}
	return allocated
}
