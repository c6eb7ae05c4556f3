package prefix

import (
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// maxBody is the size of the longest request that is read.
const maxBody = 64 << 20

// standIn answers as a model's API would, with one word. It keeps the bodies of requests; their headers, which have the
// client's credentials, are dropped.
type standIn struct {
	server *http.Server
	url    string
	turn   []string // tools of which the right request has one

	mu       sync.Mutex
	best     Request // the right request, or else the longest one with tools
	right    bool
	version  string        // of the client that sent it
	recorded chan struct{} // closed when the right one is there
}

// listenStandIn starts a stand-in on a free port of loopback, below a path that nobody can guess.
func listenStandIn(turn []string) (*standIn, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	path := "/" + rand.Text()
	s := &standIn{url: "http://" + l.Addr().String() + path, turn: turn, recorded: make(chan struct{})}
	s.server = &http.Server{Handler: http.StripPrefix(path, s), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(l) }() // until close
	return s, nil
}

func (s *standIn) close() { _ = s.server.Close() }

// ServeHTTP implements http.Handler.
func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	api := wire.APIOf(r.URL.Path)
	if r.Method != http.MethodPost || api == nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"not_found_error","message":"this is a stand-in of mcp-pruner"}}`)
		return
	}
	body, err := readBody(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !api.Counts {
		s.keep(Request{API: api.Name, Body: body}, versionOf(r.UserAgent()))
	}
	answerClient(w, r.URL.Path, api, isStreamed(r.URL.Path, body))
}

func readBody(r *http.Request) ([]byte, error) {
	from := io.LimitReader(r.Body, maxBody+1)
	switch coding := r.Header.Get("Content-Encoding"); coding {
	case "", "identity":
	case "gzip":
		zipped, err := gzip.NewReader(from)
		if err != nil {
			return nil, err
		}
		from = io.LimitReader(zipped, maxBody+1)
	default:
		return nil, errors.New("this stand-in does not read bodies in " + coding)
	}
	body, err := io.ReadAll(from)
	if err == nil && len(body) > maxBody {
		err = errors.New("the request is too long")
	}
	return body, err
}

// keep keeps a request if it is the right one, or the best so far.
func (s *standIn) keep(r Request, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.right || len(r.Tools()) == 0 {
		return
	}
	s.right = r.HasTool(s.turn)
	if s.right || len(r.Body) > len(s.best.Body) {
		s.best, s.version = r, version
	}
	if s.right {
		close(s.recorded)
	}
}

// kept returns the best request so far, the client's version, and whether the request is the right one.
func (s *standIn) kept() (r Request, version string, right bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.best, s.version, s.right
}

var versioned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/(\d+(?:\.\d+)+)`) })

// versionOf returns the version in a client's User-Agent, the one thing that is read of the headers. Some clients send that of a
// library.
func versionOf(userAgent string) string {
	if agent.Calling(userAgent).Name == "" {
		return ""
	}
	if m := versioned().FindStringSubmatch(userAgent); m != nil {
		return m[1]
	}
	return ""
}

func isStreamed(path string, body []byte) bool {
	var asked struct{ Stream bool }
	_ = json.Unmarshal(body, &asked) // what cannot be read is not kept either
	return asked.Stream || strings.HasSuffix(path, ":streamGenerateContent")
}
