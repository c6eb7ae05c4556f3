package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

const bareProxyArgument = "bare-reverse-proxy"

// serveBareProxy runs the proxy for comparison: Go's own, as it comes. It reports its address in the same form as our server.
func serveBareProxy(to string) {
	u, err := url.Parse(to)
	if err != nil {
		panic(err) // written by growing
	}
	s := httptest.NewServer(httputil.NewSingleHostReverseProxy(u))
	fmt.Fprintf(os.Stderr, `{"event":"mcp_pruner.ready","data":{"port":%s}}`+"\n", s.URL[strings.LastIndex(s.URL, ":")+1:])
	select {}
}

// The sessions of the measure: each request appends an answer with a call, and its result. The last one has 1.4 MB.
const (
	growingSessions = 6
	growingSteps    = 150
	resultLines     = 150
)

// growing times sessions that grow, straight to an API on this machine, through a bare reverse proxy and through ours, in turns. A
// session's time is that of its last third; the proxies are compared at the same sizes.
func growing(w *tabwriter.Writer, binary, root string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	api := httptest.NewServer(http.HandlerFunc(answerWithUsage))
	defer api.Close()
	bare, err := serveWeb(root, self, bareProxyArgument, api.URL)
	if err != nil {
		return err
	}
	ours, stop, err := startProxy(binary, api.URL, "gc", filepath.Join(root, "growing.db"), root)
	if err != nil {
		return err
	}
	defer stop()
	urls := []string{api.URL, bare.url, ours}
	thirds := make([][3][]time.Duration, len(urls))
	var sizes [3]int
	for session := range growingSessions {
		for step := range growingSteps {
			body := growingBody(session, step+1)
			third := step * 3 / growingSteps
			sizes[third] = len(body)
			for n, to := range urls {
				took, err := timedPost(to, body)
				if err != nil {
					return err
				}
				if session > 0 { // the first session warms up
					thirds[n][third] = append(thirds[n][third], took)
				}
				time.Sleep(answersAfter)
			}
		}
	}
	report(w, thirds, sizes)
	return bare.close()
}

// answersAfter is the time between two requests, in which a proxy stores what nobody waits for. A model takes far longer.
const answersAfter = 10 * time.Millisecond

// report prints the medians of each third of the sessions, and what they are of the goal: 1.5 times the bare proxy and 1 ms per MB.
func report(w *tabwriter.Writer, thirds [][3][]time.Duration, sizes [3]int) {
	fmt.Fprint(w, "a session that grows by a call and its result, p50\t")
	for _, size := range sizes {
		fmt.Fprintf(w, "to %.1f MB\t", float64(size)/1e6)
	}
	fmt.Fprintln(w)
	for n, name := range []string{"straight", "bare httputil.ReverseProxy", "mcp-pruner proxy --policy gc"} {
		fmt.Fprint(w, name)
		for third, size := range sizes {
			record("Growing", fmt.Sprintf("%s, %.1f MB", name, float64(size)/1e6), thirds[n][third])
			fmt.Fprintf(w, "\t%v", percentile(thirds[n][third], .5))
		}
		fmt.Fprintln(w, "\t")
	}
	var times, goals strings.Builder
	for third, size := range sizes {
		bare, ours := percentile(thirds[1][third], .5), percentile(thirds[2][third], .5)
		middle := float64(size) - float64(sizes[0])/2 // of the third
		fmt.Fprintf(&times, "\t%.2f", float64(ours)/float64(bare))
		fmt.Fprintf(&goals, "\t%v", bare*3/2+time.Duration(middle/1e6*float64(time.Millisecond)))
	}
	fmt.Fprintf(w, "times the bare proxy%s\t\ngoal: 1.5 times the bare proxy and 1 ms per MB%s\t\n", &times, &goals)
}

func timedPost(to string, body []byte) (took time.Duration, err error) {
	began := time.Now()
	res, err := http.Post(to+"/v1/messages", "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	took = time.Since(began)
	if res.StatusCode != http.StatusOK {
		err = fmt.Errorf("answered %s", res.Status)
	}
	return took, cmp.Or(err, res.Body.Close())
}

// answerWithUsage answers as an API whose cache has all but the latest step.
func answerWithUsage(w http.ResponseWriter, r *http.Request) {
	n, _ := io.Copy(io.Discard, r.Body)
	fmt.Fprintf(w, `{"usage":{"input_tokens":3,"cache_read_input_tokens":%d,"cache_creation_input_tokens":3000,"output_tokens":100}}`, n/3)
}

// growingBody returns the request of a session after n steps, in the form of Claude Code's: two marks at the system prompt, and one
// that moves, at the last block of the latest message.
func growingBody(session, n int) []byte {
	mark := map[string]any{"type": "ephemeral", "ttl": "1h"}
	messages := []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": fmt.Sprintf("Fix bug %d.", session)}}}}
	for i := range n {
		id := fmt.Sprintf("toolu_%02d%022d", session, i)
		result := map[string]any{"type": "tool_result", "tool_use_id": id, "content": growingResult(session, i)}
		if i == n-1 {
			result["cache_control"] = mark
		}
		messages = append(messages,
			map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "thinking", "thinking": "", "signature": strings.Repeat(fmt.Sprintf("sig%d.%d", session, i), 40)},
				map[string]any{"type": "text", "text": fmt.Sprintf("Now I look at package %d.", i)},
				map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": fmt.Sprintf("go test ./package%d", i)}},
			}},
			map[string]any{"role": "user", "content": []any{result}})
	}
	user := fmt.Sprintf(`{"device_id":"d","account_uuid":"a","session_id":"0000000%d-0000-4000-8000-000000000000"}`, session)
	body, err := json.Marshal(struct {
		Model    string         `json:"model"`
		Messages []any          `json:"messages"`
		System   []any          `json:"system"`
		Tools    []any          `json:"tools"`
		Metadata map[string]any `json:"metadata"`
		Stream   bool           `json:"stream"`
	}{"claude-opus-5", messages, []any{
		map[string]any{"type": "text", "text": "You are an agent.", "cache_control": mark},
		map[string]any{"type": "text", "text": strings.Repeat("Be careful and brief. ", 800), "cache_control": mark},
	}, []any{map[string]any{"name": "Bash", "description": strings.Repeat("Runs a command. ", 600), "input_schema": map[string]any{"type": "object"}}},
		map[string]any{"user_id": user}, false})
	if err != nil {
		panic(err) // impossible: strings and maps can be encoded
	}
	return body
}

func growingResult(session, i int) string {
	var b strings.Builder
	for line := range resultLines {
		fmt.Fprintf(&b, "ok  \tgithub.com/example/session%d/package%d/part%d\t0.%03ds\n", session, i, line, (i*line)%1000)
	}
	return b.String()
}
