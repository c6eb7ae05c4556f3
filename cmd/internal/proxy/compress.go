package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// The contract by which agentgateway and LiteLLM have the messages of a request shrunk before they send it, and by which LiteLLM gets
// an original back for its model. Agentgateway has no tool for the way back.
const (
	compressPath  = "/v1/compress"
	retrievePath  = "/v1/retrieve/"
	versionHeader = "X-Agw-Compression-Version"
)

// ofGateway reports whether a path is one of the contract.
func ofGateway(path string) bool {
	return strings.HasSuffix(path, compressPath) || strings.Contains(path, retrievePath)
}

// takeBearer puts the bearer token of a gateway's request, which is never sent on, where the proxy looks for its own credentials.
func (s *server) takeBearer(r *http.Request) {
	scheme, token, two := strings.Cut(r.Header.Get("Authorization"), " ")
	if !two || !strings.EqualFold(scheme, "Bearer") {
		return
	}
	r.Header.Del("Authorization")
	to := secret.Header
	if s.gate != nil {
		to = KeyHeader
	}
	if r.Header.Get(to) == "" {
		r.Header.Set(to, strings.TrimSpace(token))
	}
}

// answerGateway answers the requests of the contract, and reports whether this was one.
func (s *server) answerGateway(w http.ResponseWriter, r *http.Request) bool {
	hash, retrieves := strings.CutPrefix(r.URL.Path, retrievePath)
	switch {
	case r.URL.Path == compressPath && r.Method == http.MethodPost:
		s.compress(w, r)
	case retrieves && r.Method == http.MethodGet:
		s.retrieve(w, r, hash)
	case retrieves, r.URL.Path == compressPath:
		refuse(w, r, http.StatusMethodNotAllowed, "want POST "+compressPath+" or GET "+retrievePath+"HASH")
	default:
		return false
	}
	return true
}

// compress answers with the messages to send: those that came, with old results replaced. After any failure it answers with an error:
// the gateway knows whether the request then goes on as it came.
func (s *server) compress(w http.ResponseWriter, r *http.Request) {
	s.health.requests.Add(1)
	s.health.active.Add(1)
	defer s.health.active.Add(-1)
	defer func() {
		if p := recover(); p != nil {
			s.compressFailed(w, r, http.StatusInternalServerError, errors.New("panic"))
		}
	}()
	held := s.bodies.Hold(agent.SubjectOf(r.Context()))
	defer held.Release()
	room, cancel := context.WithTimeout(r.Context(), s.room)
	defer cancel()
	body, rest, err := readBody(room, held, w, r)
	if rest {
		refuse(w, r, http.StatusRequestEntityTooLarge, "the request is too large")
		return
	}
	if err == nil {
		err = takeParsed(room, held, body)
	}
	if err != nil {
		noBody(w, r, err)
		return
	}
	var asked struct {
		Messages json.RawMessage
		Model    string
	}
	if json.Unmarshal(body, &asked) != nil || !bytes.HasPrefix(asked.Messages, []byte("[")) {
		refuse(w, r, http.StatusBadRequest, `want {"messages": [...], "model": "..."}`)
		return
	}
	shown, err := s.shrink(r, asked.Messages, asked.Model, takeMade(room, held))
	if err != nil {
		s.compressFailed(w, r, http.StatusServiceUnavailable, err)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(bodyStall)) // who does not read it holds no memory for long
	w.Header().Set("Content-Type", "application/json")
	before, after := tokens.OfJSON(len(asked.Messages)), tokens.OfJSON(len(shown))
	s.health.before.Add(int64(before))
	s.health.after.Add(int64(after))
	_, _ = fmt.Fprintf(w, `{"messages":%s,"tokens_before":%d,"tokens_after":%d,"compression_ratio":%.4f}`+"\n", // the gateway is gone
		shown, before, after, float64(len(shown))/float64(len(asked.Messages)))
}

func (s *server) compressFailed(w http.ResponseWriter, r *http.Request, status int, err error) {
	if s.refusals.first("compress_failed", time.Minute) {
		s.emit(fsm.NewEvent("proxy.passed_through", "", fsm.Facts{"api": compressPath, "reason": "store_failed", "message": err.Error()}))
	}
	refuse(w, r, status, "the messages could not be worked on in time: send them as they are")
}

var errLedger = errors.New("the ledger cannot be used now")

// shrink returns a gateway's messages with the decisions for their history, which are stored before it returns.
func (s *server) shrink(r *http.Request, messages []byte, model string, room func(values int) error) ([]byte, error) {
	ctx, cancel := context.WithTimeout(r.Context(), s.patience)
	defer cancel()
	if s.runs == nil {
		return messages, nil
	}
	c, err := wire.ParseMessages(messages, model, room)
	if errors.Is(err, jsonspan.ErrShape) || err == nil && c == nil {
		return messages, nil // what is not understood stays as it is
	}
	if err != nil {
		return nil, err
	}
	c.Way = wayOf(r)
	client := clientOf(r.Header.Get("User-Agent"))
	s.runs.Session(ctx, c.Session, client)
	w, decides := s.worker(ctx)
	if w == nil || !decides {
		return nil, errLedger
	}
	if agent.SubjectOf(ctx) != "" && !w.engine.Store.Shared() {
		return messages, nil // a ledger in a file knows one owner only
	}
	o, err := w.engine.RewriteStored(ctx, c, client)
	s.feeding.Go(func() { s.remember(context.WithoutCancel(ctx), w, nil, client) })
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		if ctx.Err() == nil { // it did answer, with an error
			s.health.failed(w, err)
		}
		return nil, err
	}
	s.health.works()
	s.health.replaced.Add(int64(o.Fresh))
	s.stuck(ctx, w, c, compressPath, o)
	w.engine.Tell(compressPath, c, o)
	return o.Body, nil
}

// wayOf returns how the gateway that sent a request leads its model back; "": by what the model calls itself. The operator of one
// without a tool for it may name the model's recovery tool in the path that he configures. LiteLLM is known by its name, or by that of
// its library, because an agentgateway of another version may say no version.
func wayOf(r *http.Request) string {
	if tool := r.URL.Query().Get("tool"); tool != "" {
		return tool + " prune_id"
	}
	name := clientOf(r.UserAgent())
	if r.Header.Get(versionHeader) == "" && (name == "litellm" || name == "python-httpx") {
		return existing.ByHash
	}
	return ""
}

// retrieve answers with the original that a hash in a message stands for, or with its lines that match a query. That of another
// subject is looked for like one that never was.
func (s *server) retrieve(w http.ResponseWriter, r *http.Request, hash string) {
	ctx, cancel := context.WithTimeout(r.Context(), s.patience)
	defer cancel()
	work, _ := s.worker(ctx)
	if work == nil {
		refuse(w, r, http.StatusServiceUnavailable, errLedger.Error())
		return
	}
	text, err := work.original(ctx, recovery.IDOf(hash))
	switch {
	case errors.Is(err, recovery.ErrNotFound), errors.Is(err, recovery.ErrElsewhere):
		refuse(w, r, http.StatusNotFound, "nothing is kept under this hash")
		return
	case err != nil:
		refuse(w, r, http.StatusServiceUnavailable, errLedger.Error())
		return
	}
	held := s.bodies.Hold(agent.SubjectOf(ctx))
	defer held.Release()
	if err := held.Grow(ctx, 2*max(0, int64(len(text))-smallBody)); err != nil {
		noBody(w, r, err)
		return
	}
	found, err := matching(ctx, text, r.URL.Query())
	if err != nil {
		refuse(w, r, http.StatusServiceUnavailable, "the search took too long: ask for fewer words")
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(bodyStall))
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"hash": hash, "original_content": found}) // the gateway is gone
}

// matching returns the lines that contain a query or, if none does, any of its words; all lines if there are none of these either. The time
// that this takes grows with the text and the number of words, so that it ends with ctx.
func matching(ctx context.Context, text string, q url.Values) (string, error) {
	query := strings.ToLower(strings.TrimSpace(q.Get("query")))
	if query == "" {
		return text, nil
	}
	for _, wanted := range [][]string{{query}, strings.Fields(query)} {
		var lines []string
		for line := range strings.Lines(text) {
			small := strings.ToLower(line)
			for _, word := range wanted {
				if err := ctx.Err(); err != nil {
					return "", err
				}
				if strings.Contains(small, word) {
					lines = append(lines, line)
					break
				}
			}
		}
		if len(lines) > 0 {
			return strings.Join(lines, ""), nil
		}
	}
	return text, nil
}
