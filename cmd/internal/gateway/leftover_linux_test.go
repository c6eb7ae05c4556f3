package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

func init() { atStart["family"] = family }

// family starts two processes that outlive this one unless they are killed: one in its process group, one
// in a group of its own.
func family() {
	for _, attributes := range []*syscall.SysProcAttr{nil, {Setpgid: true}} {
		cmd := exec.Command("sleep", "600")
		cmd.SysProcAttr = attributes
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		file, err := os.OpenFile(os.Getenv("GATEWAY_TEST_PIDS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(file, cmd.Process.Pid)
		file.Close()
	}
}

// gone waits until every process whose id is in a file has ended or is a zombie.
func gone(t *testing.T, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	pids := strings.Fields(string(raw))
	require.Len(t, pids, 2)
	for _, pid := range pids {
		_, err := strconv.Atoi(pid)
		require.NoError(t, err)
		assert.Eventually(t, func() bool {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			if err != nil {
				return true
			}
			state := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])[0]
			return state[0] == 'Z' || state[0] == 'X'
		}, patience, 5*time.Millisecond, "process %s is still there", pid)
	}
}

// TestNothingOutlivesTheGateway checks that all processes started by an upstream server end with it, inside
// or outside its process group.
func TestNothingOutlivesTheGateway(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	t.Setenv("GATEWAY_TEST_PIDS", pids)
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "family")}})
	w.Wait(t.Context(), patience, false)
	require.Len(t, w.Tools(""), 1)
	w.Close()
	gone(t, pids)
}

// TestNothingOutlivesAKilledGateway checks the same after SIGKILL, when the gateway itself cannot end
// anything.
func TestNothingOutlivesAKilledGateway(t *testing.T) {
	dir := t.TempDir()
	pids := filepath.Join(dir, "pids")
	self, err := os.Executable()
	require.NoError(t, err)
	host := exec.Command(self)
	host.Env = append(os.Environ(), fakeVariable+"=host", "GATEWAY_TEST_PIDS="+pids, "HOME="+dir, "XDG_CACHE_HOME="+dir)
	stdout, err := host.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, host.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintln("ready"), line)
	require.NoError(t, host.Process.Kill())
	_ = host.Wait()
	gone(t, pids)
}
