package verbs

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// healthWithin is the time limit for a server's answer.
const healthWithin = 2 * time.Second

// healthCommand returns the verb health, for the health checks of containers that have neither a shell nor curl.
func healthCommand(p command.Process) *cobra.Command {
	var port int
	c := &cobra.Command{
		Use:   "health",
		Short: "Ask a server over HTTP on this machine how it is",
		Long: `Asks a server on this machine how it is, and exits with 0 when it is well: serve
(GET /healthz) or pruner (GET /health). Without --port the port is that of
JEEVES_MCP_PRUNER_PORT, else of MCP_PRUNER_PORT.`,
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("port") {
				port = servedPort(p)
			}
			if port < 1 || port > 65535 {
				return command.Usagef("port: want an integer from 1 to 65535")
			}
			return health(c.Context(), port)
		},
	}
	c.Flags().IntVar(&port, "port", 0, "where it listens")
	return c
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
