// Package running starts the program for the commands that drive it.
package running

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Proxy starts a proxy and returns its address with the secret. end ends it, and kills it if that takes longer than patience.
func Proxy(cmd *exec.Cmd, patience time.Duration) (address string, end func() error, err error) {
	errs, err := cmd.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	events := bufio.NewReader(errs)
	line, err := events.ReadBytes('\n')
	var ready struct {
		Data struct {
			File string `json:"url_file"`
		}
	}
	if err == nil {
		err = json.Unmarshal(line, &ready)
	}
	if err != nil {
		return "", nil, fmt.Errorf("the proxy did not start: %s: %w", line, err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, events)
	}()
	url, err := os.ReadFile(ready.Data.File)
	return strings.TrimSpace(string(url)), func() error {
		_ = cmd.Process.Signal(syscall.SIGTERM) // a process that has ended is reported by Wait
		kill := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		<-drained
		return cmd.Wait()
	}, err
}
