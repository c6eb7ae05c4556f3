package proxy

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// newReplica is a rig whose state is in a database. Its requests are made for a subject.
func newReplica(t *testing.T, name, owner string) *rig {
	t.Helper()
	r := newRig(t, database(t), GC)
	db, err := store.Open(store.Database{Name: name})
	require.NoError(t, err)
	require.NoError(t, r.store.Close())
	kept := store.LedgerIn(db, r.clock) // closed by the rig
	r.store, r.engine.Store, r.engine.Index = kept, kept, store.Shown{DB: db}
	r.proxy.Close()
	r.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.server.ServeHTTP(w, req.WithContext(agent.WithSubject(req.Context(), owner)))
	}))
	t.Cleanup(r.proxy.Close)
	return r
}

// offering returns a history whose request offers recover_text.
func offering(n int) []byte {
	return bytes.Replace(claudeHistory(n), []byte(`{"name":"Bash"}`), []byte(`{"name":"mcp__team__recover_text","input_schema":{"properties":{"prune_id":{}}}}`), 1)
}

var toolID = regexp.MustCompile(`recover_text prune_id (prn_[0-9a-f]{8})`)

// TestReplicasSendTheSameBytes: whichever replica sees a place first decides it, also when all see it at once; the others
// send the same bytes, and its ids lead to the originals everywhere, for their owner.
func TestReplicasSendTheSameBytes(t *testing.T) {
	name := storetest.Start(t).Database(t)
	ann := []*rig{newReplica(t, name, "ann"), newReplica(t, name, "ann"), newReplica(t, name, "ann")}
	var last string
	for n := 2; n <= 60; n += 2 {
		sent := make([]string, len(ann))
		var all sync.WaitGroup
		for i, r := range ann {
			all.Go(func() { sent[i] = string(r.post(t, "/v1/messages", offering(n))) })
		}
		all.Wait()
		for i := range ann {
			require.Equal(t, sent[0], sent[i], "%d results: replica %d", n, i)
		}
		last = sent[0]
	}
	ids := toolID.FindAllStringSubmatch(last, -1)
	require.NotEmpty(t, ids)
	late := newReplica(t, name, "ann") // as after a restart
	require.Equal(t, last, string(late.post(t, "/v1/messages", offering(60))))

	bob := newReplica(t, name, "bob")
	theirs := string(bob.post(t, "/v1/messages", offering(60)))
	db, err := store.Open(store.Database{Name: name})
	require.NoError(t, err)
	originals, err := store.OriginalsIn(db, recovery.Settings{})
	require.NoError(t, err)
	defer func() { assert.NoError(t, originals.Close()) }()
	for _, id := range ids {
		assert.NotContains(t, theirs, id[1])
		text, err := originals.Get(agent.WithSubject(t.Context(), "ann"), id[1])
		require.NoError(t, err)
		assert.Contains(t, text.String(), "line of the output of call")
		_, err = originals.Get(agent.WithSubject(t.Context(), "bob"), id[1])
		var missing *recovery.NotFound
		require.ErrorAs(t, err, &missing)
	}
}

// TestWhatStaysForWantOfAWayBackIsReported: an agent on another machine has neither our command nor this machine's files. What it can
// read again is cleared all the same; of the rest the log says once in a session why it stays.
func TestWhatStaysForWantOfAWayBackIsReported(t *testing.T) {
	r := newReplica(t, storetest.Start(t).Database(t), "cid")
	for n := 59; n <= 60; n++ {
		assert.NotContains(t, string(r.post(t, "/v1/messages", claudeHistory(n))), "[cleared")
	}
	reads := bytes.ReplaceAll(bytes.ReplaceAll(claudeHistory(60), []byte(`"Bash"`), []byte(`"Read"`)), []byte(`"command":"run `), []byte(`"file_path":"/far/`))
	assert.Contains(t, string(r.post(t, "/v1/messages", bytes.ReplaceAll(reads, []byte("fix"), []byte("mend")))), "; read the file again to see them]")
	reports := slices.DeleteFunc(r.logged(), func(name string) bool { return name != "proxy.passed_through" })
	assert.Len(t, reports, 1)
	health := r.server.state(t.Context())
	assert.EqualValues(t, 1, health.NoWay)
	assert.Contains(t, health.Changes(), "no tool that would bring them back: 1")
}

// TestAProxyOutlivesItsDatabase: while the database is away earlier decisions are applied and no new ones made, which the
// proxy says about itself; when it is back they are as they were.
func TestAProxyOutlivesItsDatabase(t *testing.T) {
	server := storetest.Start(t)
	r := newReplica(t, server.Database(t), "ann")
	r.server.patience = 5 * time.Second
	before := r.post(t, "/v1/messages", offering(60))
	require.Regexp(t, toolID, string(before))
	for _, mode := range []string{"fast", "immediate"} {
		server.Stop(t, mode)
		r.advance(2 * time.Second) // it asks the database again
		assert.Equal(t, string(before), string(r.post(t, "/v1/messages", offering(60))), "what was decided is")
		other := bytes.ReplaceAll(full(offering(60)), []byte("toolu_"), []byte("toolu_"+mode))
		assert.Equal(t, string(other), string(r.post(t, "/v1/messages", other)), "nothing new is")
		health := r.server.state(t.Context())
		assert.Equal(t, Passing, health.Status)
		assert.NotEmpty(t, health.Message)
		server.Start(t)
		require.Eventually(t, func() bool { // a request that could be stored proves that it works
			require.Equal(t, string(before), string(r.post(t, "/v1/messages", offering(60))))
			return r.server.state(t.Context()).Status == OK
		}, time.Minute, 10*time.Millisecond)
		require.Regexp(t, toolID, string(r.post(t, "/v1/messages", bytes.ReplaceAll(offering(60), []byte("toolu_"), []byte("toolu_again"+mode)))))
	}
}

// With a database nothing else makes the folder of this machine's user, in which the proxy has its trace.
func TestTheTraceOfAFreshMachineHasAFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	parts, err := assemble.Make(t.Context(), assemble.Proxy, assemble.Options{
		Store: filepath.Join(folder, "ledger.db"), Emit: func(fsm.Event) {}, Failed: func(err error) { t.Error(err) },
	})
	require.NoError(t, err)
	require.NotNil(t, parts.Trace)
	parts.Close()
	assert.FileExists(t, filepath.Join(folder, "proxy-trace.jsonl"))
}
