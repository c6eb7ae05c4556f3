package view

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/page"
)

// Server feeds the page to one browser on this machine. It answers nobody who does not have the cookie, and the cookie is given
// once, to whoever posts the token.
type Server struct {
	Sources Sources
	Host    string // 127.0.0.1:PORT, the only one that it answers to

	index   Index
	handler http.Handler

	mu      sync.Mutex
	token   string // "" once it was used
	session string // value of the cookie
	changed chan struct{}
	version int // of the index
	opened  func()

	replaying sync.Mutex
}

// NewServer returns a server for a host. opened is called when the browser has used the token.
func NewServer(s Sources, host string, opened func()) *Server {
	v := &Server{Sources: s, Host: host, index: Index{Sources: s}, token: rand.Text() + rand.Text(), session: rand.Text() + rand.Text(),
		changed: make(chan struct{}), opened: opened}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", v.page)
	mux.HandleFunc("GET /model", v.json(func(context.Context, *http.Request) (any, error) { return v.model(), nil }))
	mux.HandleFunc("GET /window/{key}", v.json(v.window))
	mux.HandleFunc("GET /cut/{key}/{id}", v.json(v.cut))
	mux.HandleFunc("GET /original/{id}", v.json(v.original))
	mux.HandleFunc("GET /prefix", v.json(func(context.Context, *http.Request) (any, error) { return s.prefixes(), nil }))
	mux.HandleFunc("GET /trace", v.json(func(context.Context, *http.Request) (any, error) { return s.trace() }))
	mux.HandleFunc("GET /replay", v.json(v.replay))
	mux.HandleFunc("GET /live", v.live)
	v.handler = mux
	return v
}

// Token returns the secret that opens the page once.
func (v *Server) Token() string { return v.token }

// enterPath is where the browser posts the token.
const enterPath = "/enter"

// ServeHTTP implements http.Handler.
func (v *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", page.Policy(true)+"; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Host != v.Host {
		http.Error(w, "this page is at http://"+v.Host+"/", http.StatusForbidden)
		return
	}
	if r.URL.Path == enterPath {
		v.enter(w, r)
		return
	}
	if why := v.foreign(r); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	v.handler.ServeHTTP(w, r)
}

// foreign says why a request is not one of the page's own; "" if it is.
func (v *Server) foreign(r *http.Request) string {
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+v.Host {
			return "another page may not ask here"
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return "another page may not ask here"
	}
	cookie, err := r.Cookie(v.cookie())
	if err != nil || subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(v.session)) != 1 {
		return "run \"mcp-pruner view\" again: it opens this page in your browser, and only there"
	}
	return ""
}

// cookie returns the cookie's name. Cookies are sent to all ports of a host, so that it has the port.
func (v *Server) cookie() string {
	return "mcp_pruner_view_" + v.Host[strings.LastIndexByte(v.Host, ':')+1:]
}

// maxForm is the size in bytes of the largest form.
const maxForm = 4096

// enter takes the token, once, and gives the cookie. The file that posts it has no origin: its page is "null".
func (v *Server) enter(w http.ResponseWriter, r *http.Request) {
	for _, origin := range r.Header.Values("Origin") {
		if origin != "null" && origin != "http://"+v.Host {
			http.Error(w, "another page may not ask here", http.StatusForbidden)
			return
		}
	}
	if r.Method != http.MethodPost {
		http.Error(w, "the token is posted", http.StatusMethodNotAllowed)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if r.ParseForm() != nil || !v.take(r.PostForm.Get("token")) {
		http.Error(w, "this is not the token, or it was used before: run \"mcp-pruner view\" again", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: v.cookie(), Value: v.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// A redirect would belong to the navigation that another site began, and the browser would keep the cookie back.
	fmt.Fprint(w, `<!doctype html><meta charset="utf-8"><title>mcp-pruner</title><meta http-equiv="refresh" content="0;url=/"><p><a href="/">mcp-pruner</a></p>`)
	v.opened()
}

// take reports whether a text is the token, which is then no longer valid.
func (v *Server) take(token string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(v.token)) != 1 {
		return false
	}
	v.token = ""
	return true
}

func (v *Server) page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page.Live("mcp-pruner view")) // the browser may be gone
}

// json answers with a value, or with an error as text.
func (v *Server) json(get func(context.Context, *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := get(r.Context(), r)
		if err != nil {
			status := http.StatusInternalServerError
			if err == errGone {
				status = http.StatusNotFound
			}
			http.Error(w, err.Error(), status)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(value) // the browser may be gone
	}
}

var errGone = errors.New("it is not there any more")

func found(value any, ok bool) (any, error) {
	if !ok {
		return nil, errGone
	}
	return value, nil
}

func (v *Server) model() page.Model {
	return page.Model{Title: "mcp-pruner view", About: "What fills the windows of the agents on this machine.", Live: true, Texts: true, Sessions: v.index.List()}
}

func (v *Server) window(ctx context.Context, r *http.Request) (any, error) {
	t, ok := v.index.Find(r.PathValue("key"))
	if !ok {
		return nil, errGone
	}
	return found(v.Sources.Window(ctx, t, r.PathValue("key")))
}

func (v *Server) cut(ctx context.Context, r *http.Request) (any, error) {
	t, ok := v.index.Find(r.PathValue("key"))
	if !ok {
		return nil, errGone
	}
	return found(v.Sources.Cut(ctx, t.path, r.PathValue("key"), r.PathValue("id")))
}

func (v *Server) original(ctx context.Context, r *http.Request) (any, error) {
	return found(v.Sources.Original(ctx, r.PathValue("id")))
}

// replay replays one at a time: it takes all that a core has.
func (v *Server) replay(ctx context.Context, _ *http.Request) (any, error) {
	v.replaying.Lock()
	defer v.replaying.Unlock()
	return v.Sources.replay(ctx)
}

// live sends an event whenever the sessions have changed.
func (v *Server) live(w http.ResponseWriter, r *http.Request) {
	flusher, ok := w.(http.Flusher)
	if !ok {
		http.Error(w, "this connection cannot be kept open", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for sent := -1; ; {
		version, changed := v.now()
		if version != sent {
			if _, err := fmt.Fprintf(w, "data: %d\n\n", version); err != nil {
				return
			}
			flusher.Flush()
			sent = version
			continue
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		}
	}
}

func (v *Server) now() (version int, changed <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.version, v.changed
}

// step tells the browser that the sessions have changed.
func (v *Server) step() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.version++
	close(v.changed)
	v.changed = make(chan struct{})
}

// lookEvery is the time between two looks at the files.
const lookEvery = 500 * time.Millisecond

// Follow keeps the list of sessions up to date until the context is done.
func (v *Server) Follow(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		changed, err := v.index.Look()
		if err != nil {
			return err
		}
		if changed {
			v.step()
			v.index.Read(ctx, v.step)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
