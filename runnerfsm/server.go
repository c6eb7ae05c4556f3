package runnerfsm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
)

// serverProcess is an HTTP server that a run has started and must end.
type serverProcess struct {
	kept   *keeper.Kept
	output *lineWriter
	log    io.Writer     // receives the server's output; nil: it is dropped
	Exited chan struct{} // closed when the server and all processes it started have ended
	Code   int           // exit code, valid once exited is closed
	probe  http.Client

	mu   sync.Mutex
	host string // listening address, once the server reported it
	port int
	last string // the last line it printed
}

// startServer starts the server under a keeper without a grace period of its own: the
// caller decides how long the server may take to end.
func startServer(self, command, env []string, dir string, log io.Writer) (*serverProcess, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Dir = env, dir
	s := &serverProcess{log: log, Exited: make(chan struct{})}
	s.probe.Transport = &http.Transport{DisableKeepAlives: true} // and no proxy
	s.output = &lineWriter{Take: s.read}
	cmd.Stdout, cmd.Stderr = s.output, s.output
	kept, err := keeper.Start(append(append([]string{}, self...), keeper.Grace(24*time.Hour)), cmd)
	if err != nil {
		return nil, err
	}
	s.kept = kept
	go func() { // ends with the process, which stop ends
		s.Code = kept.Wait()
		close(s.Exited)
	}()
	return s, nil
}

// read reads a line of the server's output. One of the lines reports the listening address.
func (s *serverProcess) read(line []byte) {
	if s.log != nil {
		_, _ = s.log.Write(append(append([]byte{}, line...), '\n')) // a failing log does not stop the server
	}
	var event struct {
		Event string `json:"event"`
		Data  struct {
			Host    string `json:"host"`
			Port    int    `json:"port"`
			Message string `json:"message"`
		} `json:"data"`
	}
	_ = json.Unmarshal(line, &event) // other lines are not events
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = string(line)
	if event.Data.Message != "" {
		s.last = event.Data.Message
	}
	if event.Event == "mcp_pruner.ready" && event.Data.Port != 0 {
		s.host, s.port = event.Data.Host, event.Data.Port
	}
}

// Address returns the listening address; the port is 0 until the server reported it.
func (s *serverProcess) Address() (host string, port int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host, s.port
}

// Health checks the health of the server, until the context is done.
func (s *serverProcess) Health(ctx context.Context) error {
	host, port := s.Address()
	if port == 0 {
		return fmt.Errorf("it did not say where it listens")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, serverURL(host, port)+"/healthz", nil)
	if err != nil {
		return err
	}
	response, err := s.probe.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var health struct {
		OK bool `json:"ok"`
	}
	err = json.NewDecoder(io.LimitReader(response.Body, 64<<10)).Decode(&health)
	if response.StatusCode != http.StatusOK || err != nil || !health.OK {
		return fmt.Errorf("/healthz answers %s", response.Status)
	}
	return nil
}

// Gone reports whether the server has ended.
func (s *serverProcess) Gone() bool {
	select {
	case <-s.Exited:
		return true
	default:
		return false
	}
}

// GoneWithin reports whether the server ends within d.
func (s *serverProcess) GoneWithin(d time.Duration) bool {
	select {
	case <-s.Exited:
	case <-time.After(d):
	}
	return s.Gone()
}

// AskToEnd asks the server to end.
func (s *serverProcess) AskToEnd() {
	if !s.Gone() {
		s.kept.Signal(syscall.SIGTERM)
	}
}

// Kill ends the server with all it started.
func (s *serverProcess) Kill() {
	if !s.Gone() {
		s.kept.Kill()
	}
	<-s.Exited
}

// Ending returns the signal that ended the server or, if there was none, its exit code.
func (s *serverProcess) Ending() (signal string, code int) {
	n := s.Code - 128
	if n <= 0 {
		return "", s.Code
	}
	if name, known := signalNames[syscall.Signal(n)]; known {
		return name, s.Code
	}
	return fmt.Sprintf("signal %d", n), s.Code
}

var signalNames = map[syscall.Signal]string{
	syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGABRT: "SIGABRT",
	syscall.SIGKILL: "SIGKILL", syscall.SIGSEGV: "SIGSEGV", syscall.SIGTERM: "SIGTERM",
}

// serverURL is the server's address without a path.
func serverURL(host string, port int) string {
	return "http://" + net.JoinHostPort(host, strconv.Itoa(port))
}

// LastWords returns the last line that the server printed.
func (s *serverProcess) LastWords() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}
