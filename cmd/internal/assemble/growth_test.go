package assemble

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

const (
	grown     = 20_000     // rows in each table that grows with calls; of the originals more have expired than are dropped at once
	anns      = grown / 10 // of them
	grownKeys = 10_000     // API keys
)

const fill = `SET synchronous_commit = off; SET session_replication_role = replica; -- without checks of foreign keys
	CREATE TEMP TABLE rows AS SELECT i, CASE i %% 10 WHEN 0 THEN 'ann' ELSE 's' || i %% 1000 END AS subject, sha256(i::text::bytea) AS hash,
		now() - i * interval '1 second' AS at, 'sess' || i / 100 AS session FROM generate_series(1, %d) i;
	INSERT INTO mcp_pruner.texts SELECT subject, hash, 10, i::text::bytea FROM rows;
	INSERT INTO mcp_pruner.originals (subject, id, hash, expires_at) SELECT subject, 'prn_' || i, hash, CASE WHEN i %% 10 = 0 THEN now() + i * interval '1 minute' WHEN i %% 2 = 0 THEN now() + (i - 6000) * interval '1 minute' END FROM rows;
	INSERT INTO mcp_pruner.segments (subject, id, key, project, task, session, type, tool, path, first_line, last_line, tokens, bytes, created_at, touched_at, pinned, tier, born, refs, tags, topic, hash)
		SELECT subject, 's' || i, hash, 'p', '', session, 'code', 'read', 'f' || i / 10 || '.go', 1, 9, 1, 10, at, at, i %% 5000 = 0, 'working', 0, 0, '{}', '', hash FROM rows;
	INSERT INTO mcp_pruner.words SELECT seq, ARRAY['w' || seq %% 100] FROM mcp_pruner.segments;
	INSERT INTO mcp_pruner.clearings (subject, item, since, segment, stub, tokens, free, created_at) SELECT subject, hash, sha256(('c' || i / 5)::bytea), 's' || i, 'stub', 1, false, at FROM rows;
	INSERT INTO mcp_pruner.decisions SELECT DISTINCT sha256(('c' || i / 5)::bytea), CASE WHEN i / 5 %% 10 = 0 THEN '\x00' ELSE sha256(('c' || i / 5 - 1)::bytea) END FROM rows;
	INSERT INTO mcp_pruner.places SELECT hash, hash, at FROM rows;
	INSERT INTO mcp_pruner.usage SELECT subject, 'u' || i, 'anthropic', 'm', 1, 1, 1, 1, 1, 1, 1, 1, at FROM rows;
	INSERT INTO mcp_pruner.marks (subject, session, project, kind, detail, created_at) SELECT subject, session, 'p', 'k', '', at FROM rows;
	INSERT INTO mcp_pruner.traces (writer, seq, final, link, key, lines, created_at) SELECT 'w' || i %% 100, i, false, '', '', 'line', at FROM rows;
	INSERT INTO mcp_pruner.api_keys (id, hash, subject, created_at) SELECT 'k' || i, hash, 's' || i %% 1000, at FROM rows WHERE i <= %d;
	DROP TABLE rows; ANALYZE`

// explain lets the server log the plan of each statement of a new connection, with the rows that it read.
const explain = `ALTER ROLE pruner SET session_preload_libraries = auto_explain; ALTER ROLE pruner SET auto_explain.log_min_duration = 0;
	ALTER ROLE pruner SET auto_explain.log_analyze = on; ALTER ROLE pruner SET auto_explain.log_timing = off;
	ALTER ROLE pruner SET auto_explain.log_nested_statements = on; ALTER ROLE pruner SET auto_explain.log_format = json`

// TestGrowth: what a call asks of a database costs the same however many others use it: no statement scans a table that grows, nor reads
// more rows than one subject has, which a limit counts from time to time. The plans are those of the statements as the stores send them.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("filling a database takes a while")
	}
	server := storetest.Start(t)
	name := server.Database(t)
	server.SQL(t, name, "ALTER SYSTEM SET autovacuum = off") // the plans are those for the rows that ANALYZE saw
	server.SQL(t, name, "SELECT pg_reload_conf()")
	server.SQL(t, name, fmt.Sprintf(fill, grown, grownKeys))
	server.SQL(t, name, explain)
	calls(t, name)
	server.Stop(t, "fast")

	tables := map[string]bool{}
	for _, r := range reads(t, server.Log(t)) {
		tables[r.table] = true
		if !small[r.table] {
			assert.NotEqual(t, "Seq Scan", r.node, "%+v", r)
			assert.LessOrEqual(t, r.rows, anns+slack, "%+v", r)
		}
	}
	for _, table := range []string{"api_keys", "texts", "originals", "segments", "words", "clearings", "decisions", "places", "usage", "marks", "traces"} {
		assert.Contains(t, tables, table, "no call asks for it")
	}
}

// slack allows for the rows that the calls of the test add.
const slack = 10.

// small are the tables that do not grow with calls.
var small = map[string]bool{"schema": true, "shared_keys": true, "projects": true}

// calls asks the database what calls ask.
func calls(t *testing.T, name string) {
	t.Helper()
	open := func() *store.DB {
		db, err := store.Open(store.Database{Name: name, Patience: time.Minute})
		require.NoError(t, err)
		return db
	}
	ctx := agent.WithSubject(t.Context(), "ann")
	askForOriginals(ctx, t, open)
	askLedger(ctx, t, store.LedgerIn(open(), time.Now))

	kept := store.KeysIn(open())
	_, ok, err := kept.Lookup(ctx, hash("7"))
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, kept.Close())

	lines := store.TracesIn(open())
	require.NoError(t, lines.Add(trace.Head{Writer: "w", Seq: 1}, []byte("line")))
	require.NoError(t, lines.Close())

	db := open()
	_, err = db.SharedKey(ctx, "sessions")
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func hash(of string) [32]byte { return sha256.Sum256([]byte(of)) }

func askForOriginals(ctx context.Context, t *testing.T, open func() *store.DB) {
	t.Helper()
	originals, err := store.OriginalsIn(open(), recovery.Settings{MaxBytes: 1 << 30})
	require.NoError(t, err)
	for range 2 { // the first one counts what there is
		id, err := originals.PutShort(ctx, "an original")
		require.NoError(t, err)
		_, err = originals.Get(ctx, id)
		require.NoError(t, err)
	}
	s, err := originals.Stats()
	require.NoError(t, err)
	assert.InDelta(t, grown*6/10, s.Items, grown/10, "six of ten rows expire or have expired")
	assert.InDelta(t, s.Items, s.Texts, grown/100)
	assert.InDelta(t, 10*s.Items, s.Bytes, grown/10)
	require.NoError(t, originals.Close())
	full, err := store.OriginalsIn(open(), recovery.Settings{MaxItems: anns - 100})
	require.NoError(t, err)
	_, err = full.PutShort(ctx, "one that takes the room of others")
	require.NoError(t, err)
	require.NoError(t, full.Close())
	shown := store.Shown{DB: open()}
	ids, err := shown.Claim(ctx, recovery.NewEntry(hash("10"), "", "p", 1))
	require.NoError(t, err)
	_, _, err = shown.Text(ctx, ids[0])
	require.NoError(t, err)
	shown.Release(ctx, ids[0])
	require.NoError(t, shown.DB.Close())
}

func askLedger(ctx context.Context, t *testing.T, gc *store.Ledger) {
	t.Helper()
	ids, err := gc.Put(ctx, contextgc.Entry{Text: "new", Key: make([]byte, 32), Segment: contextgc.Segment{Project: "p", Session: "sess1", Path: "f7.go", Type: contextgc.Code, FirstLine: 1, LastLine: 9}})
	require.NoError(t, err)
	_, _, err = gc.Get(ctx, contextgc.Reference{Project: "p", ID: ids[0]})
	require.NoError(t, err)
	ten := hash("10")
	_, _, err = gc.Get(ctx, contextgc.Reference{Hash: &ten})
	require.NoError(t, err)
	_, err = gc.Has(ctx, ten)
	require.NoError(t, err)
	_, err = gc.Change(ctx, "p", ids, contextgc.Touch)
	require.NoError(t, err)
	marks := make([][32]byte, 40) // of a history
	for i := range marks {
		marks[i] = hash(fmt.Sprint(i + 1))
	}
	heads, err := gc.Heads(ctx, marks)
	require.NoError(t, err)
	require.Len(t, heads, len(marks))
	chain, err := gc.Chain(ctx, [][32]byte{hash("c19"), hash("c25")})
	require.NoError(t, err)
	assert.Len(t, chain, 80)
	last, err := gc.Last(ctx)
	require.NoError(t, err)
	_, err = gc.Clear(ctx, contextgc.Place{ID: hash("place"), Parent: hash("c19"), Marks: [][32]byte{hash("m1"), hash("m2")}}, []contextgc.Clearing{{Item: hash("8"), Segment: "s8", Stub: "stub"}})
	require.NoError(t, err)
	_, err = gc.Settle(ctx, map[[32]byte][32]byte{hash("m3"): hash("place")})
	require.NoError(t, err)
	news, _, _, err := gc.Clearings(ctx, last)
	require.NoError(t, err)
	assert.Len(t, news, 1)
	cleared, _, err := gc.Session(ctx, "sess1")
	require.NoError(t, err)
	assert.Len(t, cleared, 10)
	require.NoError(t, gc.AddUsage(ctx, contextgc.Usage{Session: "u10"}))
	_, err = gc.LastUse(ctx, "u10")
	require.NoError(t, err)
	require.NoError(t, gc.AddMark(ctx, contextgc.Mark{Session: "sess1", Project: "p", Kind: contextgc.Compacted}))
	require.NoError(t, gc.Close())
}

// read is what a node of a plan reads of a table.
type read struct {
	query, node, table string
	rows               float64
}

type node struct {
	Type     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Checked  float64 `json:"Rows Removed by Index Recheck"`
	Plans    []node  `json:"Plans"`
}

// reads returns what the plans in a server's log read.
func reads(t *testing.T, log string) (all []read) {
	t.Helper()
	for _, part := range strings.Split(log, "plan:\n")[1:] {
		var entry struct {
			Query string `json:"Query Text"`
			Plan  node   `json:"Plan"`
		}
		require.NoError(t, json.NewDecoder(strings.NewReader(part)).Decode(&entry), part)
		var walk func(n node)
		walk = func(n node) {
			if n.Relation != "" {
				all = append(all, read{strings.Join(strings.Fields(entry.Query), " "), n.Type, n.Relation, (n.Rows + n.Filtered + n.Checked) * n.Loops})
			}
			for _, below := range n.Plans {
				walk(below)
			}
		}
		walk(entry.Plan)
	}
	return all
}
