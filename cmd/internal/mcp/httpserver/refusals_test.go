package httpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// Every refused request leaves an event and a record with a reason in the server's own words.
func TestRefusalsAreLogged(t *testing.T) {
	for what, c := range map[string]struct{ method, path, header, want string }{
		"another host":       {"POST", "/mcp", "Host: evil.example.com", "403 forbidden: Host is not a loopback address"},
		"another page":       {"POST", "/mcp", "Origin: https://evil.example.com", "403 forbidden: Origin is not a loopback address"},
		"another path":       {"GET", "/secret", "", "404 not_found: there is /healthz and /mcp and /readyz"},
		"another method":     {"GET", "/mcp", "", "405 method_not_allowed: want POST"},
		"another media type": {"POST", "/mcp", "Content-Type: text/plain", "415 unsupported_media_type: want Content-Type: application/json"},
		"no such session":    {"POST", "/mcp", "Mcp-Session-Id: secret", "404 session_not_found: Mcp-Session-Id is none of this server's: initialize anew"},
		"unknown method":     {"POST", "/mcp", "", "there is no such method"},
	} {
		p := newPlace(t, nil)
		_, _ = p.send(c.method, c.path, message("no/such", nil), c.header)
		var said []any
		for _, e := range p.events {
			if e.Name == "tool.request_parse_failed" {
				said = append(said, e.Data["message"])
			}
		}
		assert.Equal(t, []any{c.want}, said, what)
	}
}

func TestATokenIsAskedFor(t *testing.T) {
	p := newPlace(t, func(c *Config) { c.Gate = &web.Gate{Methods: []web.AuthMethod{web.Token("s3cret")}} })
	ping := message("ping", nil)
	for header, status := range map[string]int{
		"": 401, "Authorization: Bearer wrong": 401, "Authorization: Basic s3cret": 401, "Authorization: Bearer ": 401,
		"Authorization: Bearer s3cret": 200, "Authorization: bearer s3cret": 200,
	} {
		response, _ := p.post(ping, header)
		assert.Equal(t, status, response.StatusCode, header)
		assert.Equal(t, status == 401, response.Header.Get("WWW-Authenticate") == "Bearer", header)
	}
	response, _ := p.send("GET", "/healthz", "")
	assert.Equal(t, 200, response.StatusCode, "whether it is there is no secret")
	response, _ = p.send("GET", "/other", "")
	assert.Equal(t, 401, response.StatusCode, "which paths there are is one")
}

// Requests that are not admitted cost no machine and no record; a warning counts them.
func TestStrangersCostNoRecord(t *testing.T) {
	var said []any
	p := newPlace(t, func(c *Config) {
		c.Gate = &web.Gate{Methods: []web.AuthMethod{web.Token("s3cret")}}
		c.Emit = func(e fsm.Event) { said = append(said, e.Data["message"]) }
	})
	for range 50 {
		response, _ := p.post(message("ping", nil), "Authorization: Bearer "+web.NewKey())
		require.Equal(t, http.StatusUnauthorized, response.StatusCode)
	}
	assert.Empty(t, p.events, "no machine has run")
	assert.Equal(t, []any{"requests that were not admitted: 1; the latest: want Authorization: Bearer with a token of this server"}, said)

	p.web.Config.Handler.(*Handler).strangers.said = time.Now().Add(-strangersEvery)
	_, _ = p.post(message("ping", nil))
	assert.Equal(t, "requests that were not admitted: 50; the latest: want Authorization: Bearer with a token of this server", said[1])
}

// lost is a method that cannot be asked.
type lost struct{}

func (lost) Check(context.Context, string) (web.Caller, error) {
	return web.Caller{}, errors.New("no connection to db-7")
}

// Nobody is admitted while keys cannot be asked for, and why that is so is nobody's business.
func TestLostKeysAdmitNobody(t *testing.T) {
	p := newPlace(t, func(c *Config) { c.Gate = &web.Gate{Methods: []web.AuthMethod{lost{}}} })
	response, body := p.post(message("ping", nil), "Authorization: Bearer s3cret")
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	assert.NotContains(t, string(body), "db-7")
}

// listening serves requests as the program does.
func listening(t *testing.T, p *place) (address string) {
	t.Helper()
	l, err := web.Listen(t.Context(), "127.0.0.1", 0)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	hurry := make(chan struct{})
	close(hurry)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = Serve(ctx, hurry, l, NewHandler(Config{Server: p.server}))
	}()
	t.Cleanup(func() { stop(); <-done })
	return l.Addr().String()
}

// Errors that net/http sends before a handler runs have the form of all other errors.
func TestErrorsOfTheTransportAreJSON(t *testing.T) {
	p := newPlace(t, nil)
	address := listening(t, p)
	for request, status := range map[string]int{
		"nonsense\r\n\r\n":                    400,
		"GET / HTTP/1.1\r\n\r\n":              400, // no Host
		"GET / HTTP/1.1\r\nHost: a b\r\n\r\n": 400,
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n": 431,
	} {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		go func() { _, _ = io.WriteString(c, request) }()
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		assert.Equal(t, status, response.StatusCode)
		assert.Equal(t, "application/json", response.Header.Get("Content-Type"))
		var answer struct {
			OK    *bool
			Error struct{ Code, Message string }
		}
		assert.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
		assert.NotEmpty(t, answer.Error.Message)
		_ = c.Close()
	}
	assert.True(t, p.logged("tool.request_parse_failed", ""))
}

// An acknowledged cancellation takes effect, whichever of call and cancellation arrives first.
func TestFortyOfFortyCancelsCount(t *testing.T) {
	p := newPlace(t, nil)
	session := p.open("test")
	var all sync.WaitGroup
	for id := range 40 {
		all.Go(func() {
			cancel := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
			response, _ := p.post(cancel, session)
			assert.Equal(t, http.StatusAccepted, response.StatusCode)
		})
		all.Go(func() {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"bash","arguments":{"command":"sleep 600","timeout_ms":300000}}}`, id)
			response, _ := p.post(body, session)
			assert.Equal(t, http.StatusAccepted, response.StatusCode, "no call goes on")
		})
	}
	all.Wait()
	response, _ := p.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	assert.Equal(t, http.StatusBadRequest, response.StatusCode, "without a session it is nobody's, and not acknowledged")
}

// A session with a call in progress is kept however many others were opened since.
func TestABusySessionIsNotPushedOut(t *testing.T) {
	p := newPlace(t, nil)
	session := p.open("test")
	ended := make(chan int, 1)
	go func() {
		response, _ := p.post(bash("touch started; sleep 600"), session)
		ended <- response.StatusCode
	}()
	p.waitFor("started")
	for range maxSessions + 1 {
		p.open("other")
	}
	_, _ = p.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, session)
	assert.Equal(t, http.StatusAccepted, <-ended)
}

// Agents with more long calls than there are slots get their share, and so does one that opens a session for every
// call; the next agent's read and first command wait for none of them.
func TestTheNextAgentWaitsForNobody(t *testing.T) {
	p := newPlaceWith(t, []string{"MCP_PRUNER_MAX_CALLS=16"}, nil)
	p.file("a.txt", "hello\n")
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	sleep := func(session string) {
		all.Go(func() {
			response, err := http.DefaultClient.Do(p.request("POST", "/mcp", strings.NewReader(bash("sleep 600")), session).WithContext(ctx))
			if err == nil {
				_ = response.Body.Close()
			}
		})
	}
	for n := range 8 {
		session := p.open(fmt.Sprint("greedy", n))
		for range 5 {
			sleep(session)
		}
	}
	for range 40 {
		sleep(p.open("a session per call"))
	}
	session := p.open("the next one")
	assert.Equal(t, "hello\n", p.ask(call("read", map[string]any{"file_path": "a.txt"}), session).text())
	assert.Equal(t, "hi\n", p.ask(bash("echo hi"), session).text())
	assert.Equal(t, "hello\n", p.ask(call("read", map[string]any{"file_path": "a.txt"})).text(), "without a session")
	stop()
	all.Wait()
}

// A missing version header means 2025-03-26, so a client that sends that version is served like one without
// the header. An unknown version is refused.
func TestTheVersionThatAMissingHeaderMeansIsTaken(t *testing.T) {
	p := newPlace(t, nil)
	for version, want := range map[string]int{"2025-03-26": 200, "2025-06-18": 200, "1999-01-01": 400} {
		response, _ := p.post(message("ping", nil), "MCP-Protocol-Version: "+version)
		assert.Equal(t, want, response.StatusCode, version)
	}
}

// OAuth clients learn from a refusal where they get a token, as RFC 9728 describes it.
func TestOAuthClientsAreToldWhere(t *testing.T) {
	p := newPlace(t, func(c *Config) {
		c.Gate = &web.Gate{
			Methods: []web.AuthMethod{web.Token("s3cret")},
			OAuth:   &web.ProtectedResource{URL: "https://mcp.example.com/mcp", Issuer: "https://id.example.com", Scopes: []string{"mcp"}},
		}
	})
	const where = `resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`
	response, _ := p.post(message("ping", nil))
	assert.Equal(t, `Bearer scope="mcp", `+where, response.Header.Get("WWW-Authenticate"))
	response, _ = p.post(message("ping", nil), "Authorization: Bearer x")
	assert.Equal(t, `Bearer error="invalid_token", scope="mcp", `+where, response.Header.Get("WWW-Authenticate"))
	for _, path := range []string{"/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"} {
		response, body := p.send("GET", path, "")
		assert.Equal(t, 200, response.StatusCode)
		assert.JSONEq(t, `{"resource":"https://mcp.example.com/mcp","authorization_servers":["https://id.example.com"],
			"scopes_supported":["mcp"],"bearer_methods_supported":["header"],"resource_name":"mcp-pruner"}`, body)
	}
}

// A session is its subject's: to another one its id is one that never was. Sessions that nobody uses are bounded.
func TestSessionsAreTheirSubjects(t *testing.T) {
	alice, bob := web.NewKey(), web.NewKey()
	p := newPlace(t, func(c *Config) {
		c.Gate = &web.Gate{Methods: []web.AuthMethod{web.NewStoredKeys(func(_ context.Context, hash []byte) (web.Caller, bool, error) {
			for name, key := range map[string]string{"alice": alice, "bob": bob} {
				if string(hash) == string(web.HashKey(key)) {
					return web.Caller{Subject: name}, true, nil
				}
			}
			return web.Caller{}, false, nil
		}, time.Minute, nil, time.Now)}}
	})
	response, _ := p.post(message("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "c", "version": "1"}}), "Authorization: Bearer "+alice)
	id := response.Header.Get("Mcp-Session-Id")
	require.NotEmpty(t, id)
	for key, status := range map[string]int{alice: 200, bob: 404} {
		response, _ := p.post(message("ping", nil), "Authorization: Bearer "+key, "Mcp-Session-Id: "+id)
		assert.Equal(t, status, response.StatusCode)
	}
}
