package tools

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

const openNonblock = 0

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// terminateGroup does nothing: Windows has no signal a shell would pass on.
func terminateGroup(int) {}

func killGroup(leader int) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(leader)).Run()
}

func groupAlive(int) bool { return false }

func exitCode(state *os.ProcessState) int { return state.ExitCode() }

func readNow(*os.File, []byte) int { return 0 }

func isLoop(error) bool { return false }

func isAbsent(error) bool { return false }

func isUnusable(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}
