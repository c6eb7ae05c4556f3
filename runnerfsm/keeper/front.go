package keeper

import (
	"os"
	"os/exec"

	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

// Front is a command that has the terminal of this process: it is in the same process group and has the same streams, so
// that it is in the foreground, and Ctrl-C and Ctrl-Z reach it.
type Front struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the command has ended
	code  int           // exit code, valid once ended is closed
}

// StartInFront starts a command that has the terminal. On Linux it ends with this process.
func StartInFront(cmd *exec.Cmd) (*Front, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	f := &Front{cmd: cmd, ended: make(chan struct{})}
	return f, f.start()
}

// Wait waits until the command has ended and returns its exit code, 128 + N when signal N ended it.
func (f *Front) Wait() int {
	<-f.ended
	return f.code
}

// Signal passes a signal on to the command, unless the terminal has sent it to both of them.
func (f *Front) Signal(s os.Signal) {
	if !sentByTerminal(s) {
		_ = f.cmd.Process.Signal(s)
	}
}

// finish waits for the copying of output that is no file.
func (f *Front) finish() {
	err := f.cmd.Wait()
	if f.cmd.ProcessState != nil {
		f.code = process.ExitCode(f.cmd.ProcessState)
	} else if err != nil && f.code == 0 && !reaped(err) {
		f.code = 1
	}
	close(f.ended)
}
