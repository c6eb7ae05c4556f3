package view

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync"
)

// Live is a running `mcp-pruner view`.
type Live struct {
	Host string // 127.0.0.1:PORT
	File string // opens the page, once
	End  func() // ends the program
}

var announced = regexp.MustCompile(`^http://(127\.0\.0\.1:\d+)/ is opened by this file, once: (.*)$`)

// Start starts the program's verb, with further arguments. It ends with the context, too.
func Start(ctx context.Context, program string, env []string, dir string, args ...string) (Live, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, program, append([]string{"view", "--no-open"}, args...)...)
	cmd.Env, cmd.Dir = env, dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return Live{}, err
	}
	end := sync.OnceFunc(func() {
		cancel()
		_ = cmd.Wait() // it was interrupted
	})
	lines := bufio.NewScanner(stderr)
	if !lines.Scan() {
		end()
		return Live{}, errors.New("mcp-pruner view said nothing")
	}
	m := announced.FindStringSubmatch(lines.Text())
	if m == nil {
		end()
		return Live{}, fmt.Errorf("mcp-pruner view said %q", lines.Text())
	}
	go func() {
		for lines.Scan() { // so that it never waits for us
		}
	}()
	return Live{m[1], m[2], end}, nil
}
