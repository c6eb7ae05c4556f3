package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// In sessions of 60 calls, each request starts with the bytes of the previous one, except where old results
// are cleared, and the total shrinks considerably.
func TestSessionsAreCleared(t *testing.T) {
	for name, api := range apis {
		t.Run(name, func(t *testing.T) {
			file := database(t)
			r := newRig(t, file, GC)
			var sent [][]byte
			breaks, total, asked := 0, 0, 0
			for n := range 60 {
				body := api.history(n)
				got := r.post(t, api.path, body)
				require.True(t, json.Valid(got))
				asked, total = asked+len(body), total+len(got)
				if n > 0 {
					if before := withoutMarks(sent[n-1]); common(before, withoutMarks(got)) < len(before)-len("]}") {
						breaks++
					}
				}
				sent = append(sent, got)
			}
			assert.Less(t, total, asked/2, "bytes sent and asked for")
			assert.Greater(t, breaks, 0)
			assert.Less(t, breaks, 25, "the cache is broken seldom")
			assert.NotEmpty(t, r.seen, "each replaced result went through the request machine")
			for _, d := range r.seen {
				assert.True(t, d.Pruning.Applied)
			}

			again := newRig(t, file, GC) // a new process
			again.engine.Now = func() time.Time { return r.clock().Add(time.Hour) }
			for n := range 60 {
				require.Equal(t, string(sent[n]), string(again.post(t, api.path, api.history(n))), "call %d, after a restart", n)
			}
			assert.Empty(t, again.seen, "nothing was decided anew")
			assert.Equal(t, output(0), original(t, filesOf(r.engine), string(sent[59])), "the exact bytes")
		})
	}
}

// Only texts of results change: taken out again, the request is what it was.
func TestNothingElseChanges(t *testing.T) {
	r := newRig(t, database(t), GC)
	var got []byte
	for n := range 40 {
		got = r.post(t, "/v1/messages", full(claudeHistory(n)))
	}
	var want, have map[string]any
	require.NoError(t, json.Unmarshal(full(claudeHistory(39)), &want))
	require.NoError(t, json.Unmarshal(got, &have))
	cleared := 0
	for i, m := range have["messages"].([]any) {
		blocks, _ := m.(map[string]any)["content"].([]any)
		for j, b := range blocks {
			block := b.(map[string]any)
			was := want["messages"].([]any)[i].(map[string]any)["content"].([]any)[j].(map[string]any)
			if block["type"] == "tool_result" {
				if strings.Contains(fmt.Sprint(block["content"]), "[cleared ") {
					cleared++
				}
				block["content"] = was["content"]
			}
		}
	}
	assert.Equal(t, want, have)
	assert.Greater(t, cleared, 10)
	assert.Contains(t, string(got), `"cache_control":{"type":"ephemeral"}`)
}

func TestCountingDecidesNothing(t *testing.T) {
	r := newRig(t, database(t), GC)
	body := full(claudeHistory(40))
	assert.Equal(t, string(body), string(r.post(t, "/v1/messages/count_tokens", body)))
	sent := r.post(t, "/v1/messages", body)
	assert.Less(t, len(sent), len(body))
	assert.Equal(t, string(sent), string(r.post(t, "/v1/messages/count_tokens", body)), "what is counted is what is sent")
}

// Two requests of one history at the same time, a fork of it and a sub-agent beside
// it do not disturb each other.
func TestForksAndParallelRequests(t *testing.T) {
	r := newRig(t, database(t), GC)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			res, err := http.Post(r.proxy.URL+"/v1/messages", "application/json", bytes.NewReader(claudeHistory(40)))
			if assert.NoError(t, err) {
				_ = res.Body.Close()
			}
		})
	}
	wg.Wait()
	for _, body := range r.up.bodies {
		assert.Equal(t, string(r.up.bodies[0]), string(body))
	}
	early := full(claudeHistory(12))
	assert.Equal(t, string(early), string(r.post(t, "/v1/messages", early)), "before the clearing, nothing was cleared")
	fork := bytes.Replace(claudeHistory(41), []byte("Step 40."), []byte("Another way."), 1)
	assert.Equal(t, strings.Count(string(r.up.bodies[0]), "[cleared "), strings.Count(string(r.post(t, "/v1/messages", fork)), "[cleared "))
}

// Each of 64 sessions at once is sent what it would be sent alone, begins each request with the bytes of
// the one before it except where results are cleared, gets its own results back, and is a run of its own.
func TestSixtyFourSessionsAtOnce(t *testing.T) {
	const sessions, calls, step = 64, 24, 4
	mark := func(session int) string { return fmt.Sprintf("session %02d", session) }
	of := func(session, n int) []byte { // every result and the first words name the session
		body := bytes.ReplaceAll(claudeHistory(n), []byte("the output of call"), []byte(mark(session)+" call"))
		return bytes.Replace(body, []byte("fix the bug"), []byte("fix "+mark(session)), 1)
	}
	use := func(r *rig, session int) {
		for n := step; n <= calls; n += step {
			res, err := http.Post(r.proxy.URL+"/v1/messages", "application/json", bytes.NewReader(of(session, n)))
			if assert.NoError(t, err) {
				assert.NoError(t, res.Body.Close())
			}
		}
	}
	alone, r := newRig(t, database(t), GC), newRig(t, database(t), GC)
	use(alone, 0)
	var wg sync.WaitGroup
	for session := range sessions {
		wg.Go(func() { use(r, session) })
	}
	wg.Wait()

	sent := make(map[string][]string)
	for _, body := range r.up.bodies {
		name := "session " + between(string(body), "fix session ", `"`)
		sent[name] = append(sent[name], string(body))
	}
	require.Len(t, sent, sessions)
	number := regexp.MustCompile("recover prn_[0-9a-f]+")
	for session := range sessions {
		bodies := sent[mark(session)]
		require.Len(t, bodies, calls/step)
		for i, body := range bodies {
			want := strings.ReplaceAll(string(alone.up.bodies[i]), mark(0), mark(session))
			require.Equal(t, number.ReplaceAllString(want, "recover prn_"), number.ReplaceAllString(body, "recover prn_"), "%s, request %d", mark(session), i)
			if i > 0 && strings.Count(body, "[cleared ") == strings.Count(bodies[i-1], "[cleared ") {
				marker := strings.LastIndex(bodies[i-1], `"cache_control"`) // it moves to the next request's last result
				assert.Equal(t, bodies[i-1][:marker], body[:marker])
			}
		}
		text := original(t, filesOf(r.engine), bodies[len(bodies)-1])
		assert.Equal(t, strings.ReplaceAll(output(0), "the output of call", mark(session)+" call"), text)
	}
	r.runs.Close()
	require.NoError(t, r.trace.Close())
	assert.Len(t, recorded(t, r.traced), sessions)
}

func TestPinnedResultsStay(t *testing.T) {
	r := newRig(t, database(t), GC)
	c, err := wire.APIOf("/messages").Parse(claudeHistory(40))
	require.NoError(t, err)
	new(wire.Keyring).Identify(c)
	pinned := clearing.Entry(c, c.Turns[1].Results[0], "test")
	ids, err := r.store.Put(context.Background(), pinned)
	require.NoError(t, err)
	_, err = r.store.Change(context.Background(), pinned.Project, ids, contextgc.Pin)
	require.NoError(t, err)
	got := string(r.post(t, "/v1/messages", claudeHistory(40)))
	assert.Contains(t, got, "output of call 0,")
	assert.NotContains(t, got, "output of call 1,")
}

// TestOtherServersResultsStayWhole checks that the proxy prunes a fresh result of another server's tool only if the
// user names the server.
func TestOtherServersResultsStayWhole(t *testing.T) {
	var log strings.Builder
	for i := range 900 {
		fmt.Fprintf(&log, "--- PASS: TestCase%d (0.00s)\n", i)
	}
	log.WriteString("--- FAIL: TestTotals (0.00s)\n    totals_test.go:12: got 3, want 4\n")
	body := oneCall("why do the tests fail", "t1", "mcp__ci__log", "", log.String())
	r := newRig(t, database(t), Prune)
	assert.Equal(t, string(body), string(r.post(t, "/v1/messages", body)))
	r = newRig(t, database(t), Prune)
	r.engine.Others = history.OtherTools{"ci"}
	got := string(r.post(t, "/v1/messages", body))
	assert.Less(t, len(got), len(body)/4)
	assert.Contains(t, got, "got 3, want 4")
}

func TestFreshResultsArePruned(t *testing.T) {
	r := newRig(t, database(t), Both)
	log := passed("package", "--- FAIL: TestTotals (0.00s)\n    totals_test.go:12: got 3, want 4\nFAIL\tpackage/totals\t0.01s")
	body := bytes.Replace(oneCall("why do the tests fail", "t1", "Bash", "go test ./...", log), []byte(`"tool_use_id"`), []byte(`"is_error":true,"tool_use_id"`), 1)
	got := string(r.post(t, "/v1/messages", body))
	assert.Less(t, len(got), len(body)/4)
	assert.Contains(t, got, "got 3, want 4")
	assert.Contains(t, got, `"is_error":true`)
	assert.Equal(t, got, string(r.post(t, "/v1/messages", body)))
	assert.Equal(t, log, original(t, filesOf(r.engine), got))
}

// Beside clearing, text of files is cut in the first calls only; without it always.
func TestTextOfFilesIsLeftToClearing(t *testing.T) {
	text := passed("package", "--- FAIL: TestTotals (0.00s)\n    totals_test.go:12: got 3, want 4\nFAIL\tpackage/totals\t0.01s")
	for policy, late := range map[Policy]bool{Both: false, Prune: true} {
		for command, cut := range map[string]bool{"cat old.log": late, "go test ./...": true} {
			for before, want := range map[int]bool{2: true, 12: cut} {
				list := []step{{words: "why do the tests fail"}}
				for i := range before {
					list = append(list, step{id: idForms["long"](i), command: "true", output: "ok"})
				}
				list = append(list, step{id: idForms["long"](1000), command: command, output: text})
				got := string(newRig(t, database(t), policy).post(t, messagesPath, renderings[messagesPath](list)))
				assert.Equal(t, want, !strings.Contains(got, `package/number5\t`), "%s, %s after %d calls", policy, command, before)
			}
		}
	}
}

// Sessions that begin with the same call and the same short call id are not taken for each other: the first result of
// each is pruned.
func TestSessionsThatBeginAlikeAreDecidedEach(t *testing.T) {
	r := newRig(t, database(t), Prune)
	for _, name := range []string{"alpha", "beta"} {
		text := passed(name, "--- FAIL: TestTotals (0.00s)\n    totals_test.go:12: got 3, want 4\nFAIL\t"+name+"/totals\t0.01s")
		body := oneCall("why do the tests of "+name+" fail", "call_0", "Bash", "go test ./...", text)
		got := string(r.post(t, "/v1/messages", body))
		assert.Less(t, len(got), len(body)/4, name)
		assert.Equal(t, text, original(t, filesOf(r.engine), got))
		r.server.feeding.Wait()
	}
}

// Two sessions whose first results are equal, call id and all, have asked different questions: each gets its own lines, and
// gets them again.
func TestSessionsWithEqualFirstResultsAreDecidedEach(t *testing.T) {
	r := newRig(t, database(t), Prune)
	lines := make([]string, 900)
	for i := range lines {
		lines[i] = fmt.Sprintf("entry %d: the %s server answered after %d ms", i, []string{"first", "second", "third"}[i%3], i%97)
	}
	lines[200], lines[700] = "entry 200: backup of alpha stopped: no space", "entry 700: login of beta refused: wrong realm"
	ask := func(words string) string {
		return string(r.post(t, "/v1/messages", oneCall(words, "call_0", "Bash", "cat service.log", strings.Join(lines, "\n"))))
	}
	alpha := ask("why did the backup of alpha stop?")
	r.server.feeding.Wait()
	beta := ask("why was the login of beta refused?")
	assert.Contains(t, alpha, "no space")
	assert.Contains(t, beta, "wrong realm")
	assert.Equal(t, 1, strings.Count(beta, "mcp-pruner recover"), "it was pruned")
	assert.NotEqual(t, between(alpha, "mcp-pruner recover", "`"), between(beta, "mcp-pruner recover", "`"))
	later := ask("why did the backup of alpha stop? <system-reminder>be careful</system-reminder>")
	assert.Equal(t, between(alpha, "tool_result", "}]"), between(later, "tool_result", "}]"), "a reminder is not the person's")
}

// Each session is a run: its record is valid and names the session in the records of its requests.
func TestEachSessionIsARun(t *testing.T) {
	r := newRig(t, database(t), GC)
	r.post(t, "/v1/messages", claudeHistory(40))
	other := bytes.Replace(claudeHistory(2), []byte("fix the bug"), []byte("add a test"), 1)
	r.post(t, "/v1/messages", other)
	require.NoError(t, r.store.Close())
	r.advance(time.Minute)
	r.post(t, "/v1/messages", claudeHistory(60))
	r.advance(2 * time.Hour)
	r.post(t, "/v1/messages", other)
	require.NoError(t, r.trace.Flush())
	require.Len(t, recorded(t, r.traced), 2, "both were idle for an hour, and one came back")
	r.runs.Close()
	require.NoError(t, r.trace.Close())
	degraded, ids := 0, map[string]bool{}
	records := recorded(t, r.traced)
	require.Len(t, records, 3)
	for _, record := range records {
		if strings.Contains(string(record.Steps[len(record.Steps)-1].From), "degraded") {
			degraded++
		}
		ids[record.ID] = true
	}
	assert.True(t, ids[r.seen[0].Session], "the run and its requests name each other")
	assert.Equal(t, 2, degraded)
	assert.Contains(t, r.logged(), "mcp_pruner.degraded")
}

func TestImagesStay(t *testing.T) {
	r := newRig(t, database(t), GC)
	withImage := bytes.Replace(claudeHistory(40), []byte(`"content":[{"text":`), []byte(`"content":[{"type":"image","source":{"type":"base64","data":"AAAA"}},{"text":`), 1)
	got := string(r.post(t, "/v1/messages", withImage))
	assert.Contains(t, got, `"data":"AAAA"`)
	assert.Contains(t, got, "output of call 0,")
	assert.NotContains(t, got, "output of call 1,")
}

func BenchmarkPrepareMegabyte(b *testing.B) {
	store, err := store.OpenLedger(store.LedgerFile{File: filepath.Join(b.TempDir(), "ledger.db")})
	require.NoError(b, err)
	defer func() { _ = store.Close() }()
	e := &clearing.Engine{Store: store, Index: clearing.Files{Index: recovery.Index{State: b.TempDir()}}, Runs: clearing.NewRuns(nil, nil, "", time.Now),
		Policy: contextgc.DefaultPolicy(), Clears: true, Now: time.Now}
	body := claudeHistory(125)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		c, err := wire.APIOf("/messages").Parse(body)
		require.NoError(b, err)
		_, err = e.Rewrite(context.Background(), c, "bench", true)
		require.NoError(b, err)
	}
}
