package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
)

// messagesOf returns the messages of a request.
func messagesOf(t *testing.T, request []byte) []byte {
	t.Helper()
	var body struct{ Messages, Input json.RawMessage }
	require.NoError(t, json.Unmarshal(request, &body))
	if body.Input != nil {
		return body.Input
	}
	return body.Messages
}

// gateway is a rig that a gateway asks. Headers are those of LiteLLM, unless agentgateway is asked for.
type gateway struct {
	*rig
	path         string
	agentgateway bool
}

// compress returns the status and the messages of an answer.
func (g gateway) compress(t *testing.T, messages []byte) (status int, got []byte) {
	t.Helper()
	body := fmt.Sprintf(`{"messages":%s,"model":"claude-opus-5"}`, messages)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.proxy.URL+g.path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("User-Agent", "litellm/1.92.0")
	if g.agentgateway {
		r.Header.Set("User-Agent", "")
		r.Header.Set("x-agw-compression-version", "1")
	}
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	if response.StatusCode != http.StatusOK {
		return response.StatusCode, nil
	}
	var answer struct {
		Messages json.RawMessage
		Before   int     `json:"tokens_before"`
		After    int     `json:"tokens_after"`
		Ratio    float64 `json:"compression_ratio"`
	}
	require.NoError(t, json.Unmarshal(raw, &answer), "%.200s", raw)
	assert.GreaterOrEqual(t, answer.Before, answer.After)
	if answer.Before > 0 {
		assert.InDelta(t, float64(answer.After)/float64(answer.Before), answer.Ratio, .01)
	}
	var was, is []map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(messages, &was))
	require.NoError(t, json.Unmarshal(answer.Messages, &is), "every message is an object")
	require.Len(t, is, len(was))
	return response.StatusCode, answer.Messages
}

// retrieve asks for the original of a hash, as LiteLLM does.
func (g gateway) retrieve(t *testing.T, hash, query string) (status int, text string) {
	t.Helper()
	response, err := http.Get(g.proxy.URL + "/v1/retrieve/" + hash + "?query=" + url.QueryEscape(query))
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Original string `json:"original_content"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
	return response.StatusCode, answer.Original
}

func newGateway(t *testing.T, r *rig) gateway {
	t.Helper()
	r.server.work.Load().original = assemble.Ledger{Ledger: r.store, Index: r.engine.Index, Files: filesIn(r.engine)}.Original
	return gateway{rig: r, path: "/v1/compress"}
}

// filesIn returns the index of an engine whose originals are in files.
func filesIn(e *clearing.Engine) recovery.Index {
	if f, ok := e.Index.(clearing.Files); ok {
		return f.Index
	}
	return recovery.Index{}
}

// hashes matches what LiteLLM looks for.
var hashes = regexp.MustCompile(`hash=([a-f0-9]{24})`)

// TestAGatewaysMessagesShrink: in each form old results are replaced by a stub with a hash, and the hash leads back.
func TestAGatewaysMessagesShrink(t *testing.T) {
	for name, history := range map[string]func(int) []byte{"anthropic": claudeHistory, "responses": responsesHistory, "chat": chatHistory} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t, newRig(t, database(t), GC))
			var sent []byte
			for n := 2; n <= 60; n += 2 {
				status, got := g.compress(t, messagesOf(t, history(n)))
				require.Equal(t, http.StatusOK, status)
				sent = got
			}
			assert.Less(t, len(sent), len(messagesOf(t, history(60)))*6/10)
			found := hashes.FindSubmatch(sent)
			require.NotNil(t, found)
			status, text := g.retrieve(t, string(found[1]), "")
			assert.Equal(t, http.StatusOK, status)
			assert.Equal(t, output(0), text)
			_, text = g.retrieve(t, string(found[1]), "CALL 0,")
			assert.Equal(t, 120, strings.Count(text, "\n"))
			for _, other := range []string{strings.Repeat("a", 24), "x", string(found[1][:12])} {
				status, _ = g.retrieve(t, other, "")
				assert.Equal(t, http.StatusNotFound, status, other)
			}
		})
	}
}

// TestWhatIsNotUnderstoodComesBack byte for byte, spaces included.
func TestWhatIsNotUnderstoodComesBack(t *testing.T) {
	g := newGateway(t, newRig(t, database(t), GC))
	for _, list := range []string{`[]`, `[ {"role": "user",  "content": "<hi> \u00e9"} ]`, `[{"role":"new","parts":[1]}]`} {
		status, got := g.compress(t, []byte(list))
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, list, string(got))
	}
	for _, body := range []string{`{}`, `{"messages":"x"}`, `x`} {
		response, err := http.Post(g.proxy.URL+"/v1/compress", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		_ = response.Body.Close()
		assert.Equal(t, http.StatusBadRequest, response.StatusCode, body)
	}
}

// TestAgentgatewayHasNoWayBack: for its models only what they can read again goes, unless they have recover_text or the operator
// names such a tool in the path.
func TestAgentgatewayHasNoWayBack(t *testing.T) {
	commands := messagesOf(t, claudeHistory(60))
	reads := bytes.ReplaceAll(bytes.ReplaceAll(commands, []byte(`"Bash"`), []byte(`"Read"`)), []byte(`"command":"run `), []byte(`"file_path":"/far/`))
	shrunk := func(path string, messages []byte) string {
		g := newGateway(t, newRig(t, database(t), GC))
		g.agentgateway, g.path = true, path
		_, got := g.compress(t, messages)
		return string(got)
	}
	assert.Equal(t, string(commands), shrunk("/v1/compress", commands))
	assert.Contains(t, shrunk("/v1/compress", reads), "; read the file again to see them]")
	assert.NotRegexp(t, hashes, shrunk("/v1/compress", reads))
	assert.Regexp(t, toolID, shrunk("/v1/compress?tool=mcp__team__recover_text", commands))
}

// TestLiteLLMGetsItsCallsBack: it looks for hashes in contents alone, and converts a request to the Responses API without the model's
// reasoning if a call in it changed. Agentgateway replaces the list.
func TestLiteLLMGetsItsCallsBack(t *testing.T) {
	var list []string
	for i := range 60 {
		arguments, err := json.Marshal(map[string]string{"file_path": fmt.Sprintf("/r/%d.go", i), "content": output(i)})
		require.NoError(t, err)
		list = append(list, fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":"toolu_01A2b3C4d5E6f7G8h9%04d","type":"function","function":{"name":"Write","arguments":%q}}]}`, i, arguments),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"toolu_01A2b3C4d5E6f7G8h9%04d","content":"done"}`, i))
	}
	messages := []byte(`[{"role":"user","content":"write them"},` + strings.Join(list, ",") + `]`)
	for path, cleared := range map[string]bool{"/v1/compress": false, "/v1/compress?tool=mcp__team__recover_text": true} {
		g := newGateway(t, newRig(t, database(t), GC))
		g.path = path
		_, got := g.compress(t, messages)
		assert.Equal(t, cleared, string(got) != string(messages), path)
	}
}

// TestGatewaysReplicasAgree: three replicas in random order make the same bytes of the same history, and another subject's hash is one
// that never was.
func TestGatewaysReplicasAgree(t *testing.T) {
	name := storetest.Start(t).Database(t)
	var all []gateway
	for range 3 {
		all = append(all, newGateway(t, newReplica(t, name, "ann")))
	}
	random, sent := rand.New(rand.NewPCG(5, 5)), map[int]string{}
	for n := 2; n <= 60; n += 2 {
		for _, i := range random.Perm(len(all)) {
			status, got := all[i].compress(t, messagesOf(t, claudeHistory(n)))
			require.Equal(t, http.StatusOK, status)
			if sent[n] == "" {
				sent[n] = string(got)
			}
			require.Equal(t, sent[n], string(got), "%d results: replica %d", n, i)
		}
	}
	for n, before := range sent { // also long after
		_, got := all[random.IntN(len(all))].compress(t, messagesOf(t, claudeHistory(n)))
		require.Equal(t, before, string(got))
	}
	hash := string(hashes.FindSubmatch([]byte(sent[60]))[1])
	for _, g := range all {
		status, text := g.retrieve(t, hash, "")
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, output(0), text)
	}
	status, _ := newGateway(t, newReplica(t, name, "bob")).retrieve(t, hash, "")
	assert.Equal(t, http.StatusNotFound, status)
}

// TestAForeignHashIsLookedForLikeAnUnknownOne: the database is asked as often for another subject's hash as for one that never was, and
// the answers are equal, so that neither says which of them exists.
func TestAForeignHashIsLookedForLikeAnUnknownOne(t *testing.T) {
	server := storetest.Start(t)
	name := server.Database(t)
	ann := newGateway(t, newReplica(t, name, "ann"))
	_, sent := ann.compress(t, messagesOf(t, claudeHistory(60)))
	hers := string(hashes.FindSubmatch(sent)[1])
	counted, trips := server.Counted(t, name)
	bob := newGateway(t, newReplica(t, counted, "bob"))
	ask := func(hash string) (answer string, n int64) {
		before := trips()
		response, err := http.Get(bob.proxy.URL + "/v1/retrieve/" + hash)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.Status + string(text), trips() - before
	}
	ask(hers) // prepares the statement
	foreign, asked := ask(hers)
	unknown, same := ask(recovery.Hash("prn_00000000"))
	assert.Contains(t, foreign, "404")
	assert.Equal(t, foreign, unknown)
	assert.Equal(t, asked, same)
	assert.Positive(t, same)
}

// TestAGatewayIsToldOfFailures: while the database is away a gateway gets an error, never another list than before.
func TestAGatewayIsToldOfFailures(t *testing.T) {
	server := storetest.Start(t)
	g := newGateway(t, newReplica(t, server.Database(t), "ann"))
	g.server.patience = 5 * time.Second
	messages := messagesOf(t, claudeHistory(60))
	_, before := g.compress(t, messages)
	require.Regexp(t, hashes, string(before))
	server.Stop(t, "immediate")
	g.advance(2 * time.Second)
	status, _ := g.compress(t, messages)
	assert.GreaterOrEqual(t, status, 500)
	status, _ = g.retrieve(t, string(hashes.FindSubmatch(before)[1]), "")
	assert.GreaterOrEqual(t, status, 500)
	server.Start(t)
	require.Eventually(t, func() bool {
		status, got := g.compress(t, messages)
		return status == http.StatusOK && string(got) == string(before)
	}, time.Minute, 20*time.Millisecond)
}

// TestTheSecretIsABearer: both gateways can send one.
func TestTheSecretIsABearer(t *testing.T) {
	g := newGateway(t, newRig(t, database(t), GC))
	g.server.secret = secret.New()
	ask := func(bearer string) (status int, says string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.proxy.URL+"/v1/compress", strings.NewReader(`{"messages":[{"role":"user","content":"x"}]}`))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+bearer)
		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		_ = response.Body.Close()
		return response.StatusCode, string(text)
	}
	status, _ := ask(string(g.server.secret))
	assert.Equal(t, http.StatusOK, status)
	for _, wrong := range []string{string(secret.New()), "x"} {
		status, says := ask(wrong)
		assert.Equal(t, http.StatusForbidden, status)
		assert.Contains(t, says, "It belongs into the header X-Mcp-Pruner-Secret, of a gateway into the bearer token, or before /v1")
	}
}

// TestAGatewayOutlivesAKilledProxy: what a proxy answered before it was killed, at whatever moment, the next one answers, too; a request in
// between gets no answer.
func TestAGatewayOutlivesAKilledProxy(t *testing.T) {
	store, sent := database(t), map[int]string{}
	ask := func(c *child, n int) (status int) {
		body := fmt.Sprintf(`{"messages":%s,"model":"claude-opus-5"}`, messagesOf(t, claudeHistory(n)))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+"/v1/compress", strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("User-Agent", "litellm/1.92.0")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0
		}
		defer func() { _ = response.Body.Close() }()
		raw, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			return response.StatusCode
		}
		var answer struct{ Messages json.RawMessage }
		require.NoError(t, json.Unmarshal(raw, &answer))
		if before := sent[n]; before != "" {
			require.Equal(t, before, string(answer.Messages), "%d results", n)
		}
		sent[n] = string(answer.Messages)
		return response.StatusCode
	}
	random := rand.New(rand.NewPCG(7, 7))
	for n := 2; n <= 60; {
		c := startChild(t, "http://127.0.0.1:9", store)
		for before := range n {
			if sent[before] != "" && before%6 == 0 {
				require.Equal(t, http.StatusOK, ask(c, before))
			}
		}
		killed := time.AfterFunc(time.Duration(20+random.IntN(150))*time.Millisecond, func() { _ = c.Process.Kill() })
		for ; n <= 60 && ask(c, n) == http.StatusOK; n += 2 {
		}
		killed.Stop()
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	require.Regexp(t, hashes, sent[60])
}

// A search ends with its time: a query of many words must not occupy the proxy for hours.
func TestASearchOfManyWordsEnds(t *testing.T) {
	text := strings.Repeat("a line of a log\n", 100_000)
	q := url.Values{"query": {strings.Repeat("zz ", 100_000)}}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := matching(ctx, text, q)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(began), 10*time.Second)
}
