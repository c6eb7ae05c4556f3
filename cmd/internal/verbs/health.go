package verbs

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// healthWithin is the time limit for a server's answer.
const healthWithin = 2 * time.Second

// healthOf asks the server at a port of this machine how it is; 0 is the port that the environment names. The health checks of
// containers, which have neither a shell nor curl, use it.
func healthOf(ctx context.Context, p command.Process, port int) error {
	if port == 0 {
		port = servedPort(p)
	}
	if port < 1 || port > 65535 {
		return command.Usagef("--port: want an integer from 1 to 65535; without --port, MCP_PRUNER_PORT names it")
	}
	return health(ctx, port)
}

// servedPort returns the port at which a server with this environment would listen, 0 if none is set.
func servedPort(p command.Process) int {
	for _, name := range []string{"JEEVES_MCP_PRUNER_PORT", "MCP_PRUNER_PORT"} {
		if value, ok := p.Lookup(name); ok && value != "" {
			port, _ := strconv.Atoi(value)
			return port
		}
	}
	return 0
}

func health(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, healthWithin)
	defer cancel()
	address := net.JoinHostPort("127.0.0.1", fmt.Sprint(port))
	client := http.Client{Transport: &http.Transport{}} // does not use a proxy
	var answer error
	for _, path := range []string{"/healthz", "/health"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10))
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return nil
		}
		answer = fmt.Errorf("%s%s answers %s", address, path, response.Status)
	}
	return answer
}
