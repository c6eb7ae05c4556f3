package store

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// childFile is the environment variable that gives a child process the store to write to
// until it is killed.
const childFile = "CONTEXTGC_TEST_STORE"

func TestMain(m *testing.M) {
	if file := os.Getenv(childFile); file != "" {
		writeUntilKilled(file)
	}
	os.Exit(m.Run())
}

// writeUntilKilled prints the id and the text of each segment after it was stored.
func writeUntilKilled(file string) {
	store, err := OpenLedger(LedgerFile{File: file})
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		text := fmt.Sprintf("process %d, segment %d", os.Getpid(), i)
		ids, err := store.Put(context.Background(), contextgc.Entry{Text: text, Segment: contextgc.Segment{Project: "p"}})
		if err != nil {
			panic(err)
		}
		fmt.Println(ids[0] + "\t" + text)
	}
}

// Two processes write to one store 10,000 times in total. Each is killed at random moments
// and started again.
func TestKilledProcessesLoseNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.db")
	var mu sync.Mutex
	acknowledged := make(map[string]string)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for n := 0; n < 5000; {
				for id, text := range runAndKill(t, file, 200+rand.IntN(600)) {
					n++
					mu.Lock()
					_, twice := acknowledged[id]
					assert.False(t, twice, "%s twice", id)
					acknowledged[id] = text
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	store, err := OpenLedger(LedgerFile{File: file, Report: func(m string) { t.Error(m) }})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	assert.GreaterOrEqual(t, len(acknowledged), 10_000)
	for id, text := range acknowledged {
		_, got, err := store.Get(context.Background(), contextgc.Reference{Project: "p", ID: id})
		require.NoError(t, err, id)
		assert.Equal(t, text, got)
	}
	_, total, err := store.Search(context.Background(), contextgc.Query{Project: "p", Text: "process segment"})
	require.NoError(t, err)
	assert.GreaterOrEqual(t, total, len(acknowledged), "the index has them, too")
}

// runAndKill starts a writer, kills it after the given number of acknowledgements, and
// returns all acknowledged segments.
func runAndKill(t *testing.T, file string, after int) map[string]string {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childFile+"="+file)
	out, err := child.StdoutPipe()
	if !assert.NoError(t, err) || !assert.NoError(t, child.Start()) {
		return nil
	}
	seen := make(map[string]string)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if id, text, ok := strings.Cut(lines.Text(), "\t"); ok {
			seen[id] = text
		}
		if len(seen) == after {
			_ = child.Process.Kill()
		}
	}
	_ = child.Wait()
	return seen
}

// A full disk causes an error but no loss: stored segments stay, and the store works again
// once there is space.
func TestAFullDiskIsAnError(t *testing.T) {
	store, err := OpenLedger(LedgerFile{File: filepath.Join(t.TempDir(), "ledger.db")})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	db := store.file.DB()
	db.SetMaxOpenConns(1) // the limit applies to one connection
	_, err = db.Exec(`PRAGMA max_page_count = 100`)
	require.NoError(t, err)
	kept := make(map[string]string)
	put := func(i int) error {
		text := fmt.Sprintf("segment %d %s", i, strings.Repeat("x", 4000))
		ids, err := store.Put(t.Context(), contextgc.Entry{Text: text, Segment: contextgc.Segment{Project: "p"}})
		if err == nil {
			kept[ids[0]] = text
		}
		return err
	}
	for i := range 1000 {
		if err = put(i); err != nil {
			break
		}
	}
	require.ErrorContains(t, err, "full")
	require.NotEmpty(t, kept)
	_, err = store.Clear(t.Context(), contextgc.Place{ID: [32]byte{1}, Marks: [][32]byte{{1}}}, []contextgc.Clearing{{Item: [32]byte{2}, Segment: "s1", Stub: strings.Repeat("stub", 20_000)}})
	require.ErrorContains(t, err, "full", "nothing is cleared that is not stored")
	_, err = db.Exec(`PRAGMA max_page_count = 1000000`)
	require.NoError(t, err)
	require.NoError(t, put(2000))
	for id, text := range kept {
		_, got, err := store.Get(t.Context(), contextgc.Reference{Project: "p", ID: id})
		require.NoError(t, err)
		assert.True(t, got == text, id)
	}
}

func TestDamagedFileIsKeptAside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.db")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("this is no database ", 500)), 0o600))
	var reports []string
	store, err := OpenLedger(LedgerFile{File: file, Report: func(m string) { reports = append(reports, m) }})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	_, err = store.Put(context.Background(), contextgc.Entry{Text: "x", Segment: contextgc.Segment{Project: "p"}})
	require.NoError(t, err)
	require.Len(t, reports, 1)
	aside, err := filepath.Glob(file + ".damaged-*")
	require.NoError(t, err)
	require.Len(t, aside, 1)
	assert.Contains(t, reports[0], aside[0])
	kept, err := os.ReadFile(aside[0])
	require.NoError(t, err)
	assert.Contains(t, string(kept), "this is no database")
}

// callTool calls a tool of the toolset gc.
func callTool(t testing.TB, store contextgc.Segments, name string, args map[string]any) tools.Output {
	t.Helper()
	all := contextgc.Toolset{Store: store}.Tools()
	call, issues := all[slices.IndexFunc(all, func(t tools.Tool) bool { return t.Name == name })].Check(args)
	require.Empty(t, issues)
	out, err := call.Run(context.Background())
	require.NoError(t, err)
	return out
}

// A text can be read although nothing can be written.
func TestGetNeedsNoWrite(t *testing.T) {
	store, err := OpenLedger(LedgerFile{File: filepath.Join(t.TempDir(), "ledger.db")})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	ids, err := store.Put(t.Context(), contextgc.Entry{Text: "one\ntwo\n", Segment: contextgc.Segment{Project: "p"}})
	require.NoError(t, err)
	db := store.file.DB()
	db.SetMaxOpenConns(1) // the setting applies to one connection
	_, err = db.Exec(`PRAGMA query_only = 1`)
	require.NoError(t, err)
	_, err = store.Change(t.Context(), "p", ids, contextgc.Touch)
	require.Error(t, err)
	out := callTool(t, store, "context_get", map[string]any{"segment_id": ids[0]})
	assert.Equal(t, "one\ntwo\n", out.Text())
}

// Nothing remains in any table of what was cleaned.
func TestCleanLeavesNoRow(t *testing.T) {
	now := time.Now()
	store, err := OpenLedger(LedgerFile{File: filepath.Join(t.TempDir(), "ledger.db"), Now: func() time.Time { return now }})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	key := [32]byte{1}
	_, err = store.Put(t.Context(), contextgc.Entry{Text: "x", Key: key[:], Segment: contextgc.Segment{Project: "p"}})
	require.NoError(t, err)
	_, err = store.Clear(t.Context(), contextgc.Place{ID: key, Marks: [][32]byte{key}}, []contextgc.Clearing{{Item: key, Segment: "s1"}})
	require.NoError(t, err)
	require.NoError(t, store.AddUsage(t.Context(), contextgc.Usage{Session: "s"}))
	require.NoError(t, store.AddMark(t.Context(), contextgc.Mark{Session: "s", Kind: "x"}))
	now = now.Add(48 * time.Hour)
	_, err = store.Clean(t.Context(), contextgc.Limits{Age: 24 * time.Hour})
	require.NoError(t, err)
	for _, table := range []string{"texts", "segments", "words", "marks", "places", "usage", "clearings"} {
		var n int
		require.NoError(t, store.file.DB().QueryRow(`SELECT COUNT(*) FROM `+table).Scan(&n))
		assert.Zero(t, n, table)
	}
}

// fill stores n segments like those of a toolset.
func fill(b *testing.B, n int) contextgc.Toolset {
	b.Helper()
	store, err := OpenLedger(LedgerFile{File: filepath.Join(b.TempDir(), "ledger.db")})
	require.NoError(b, err)
	b.Cleanup(func() { _ = store.Close() })
	words := strings.Fields("request answer handler state table row trigger event server client session error file path line token")
	r := rand.New(rand.NewPCG(1, 2))
	for from := 0; from < n; from += 500 {
		var batch []contextgc.Entry
		for i := range 500 {
			var text strings.Builder
			for range 120 {
				fmt.Fprintf(&text, "%s_%d %s\n", words[r.IntN(len(words))], r.IntN(5000), words[r.IntN(len(words))])
			}
			batch = append(batch, contextgc.Entry{Text: text.String(), Segment: contextgc.Segment{Project: "p", Type: contextgc.Code, Tokens: 900,
				Path: fmt.Sprintf("file%d.go", r.IntN(700)), Created: time.Now().Add(-time.Duration(n-from-i) * time.Second)}})
		}
		_, err := store.Put(context.Background(), batch...)
		require.NoError(b, err)
	}
	return contextgc.Toolset{Store: store}
}

func benchmarkSize(b *testing.B, n int) {
	set := fill(b, n)
	b.Run("analyze", func(b *testing.B) {
		for b.Loop() {
			callTool(b, set.Store, "context_gc_analyze", map[string]any{"project_id": "p", "context_descriptors": map[string]any{"current_file": "file3.go"}})
		}
	})
	for name, query := range map[string]string{"common": "server client", "rare": "trigger_77"} {
		b.Run("search/"+name, func(b *testing.B) {
			for b.Loop() {
				_, _, err := set.Store.Search(context.Background(), contextgc.Query{Project: "p", Text: query})
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkStore10k(b *testing.B)  { benchmarkSize(b, 10_000) }
func BenchmarkStore100k(b *testing.B) { benchmarkSize(b, 100_000) }

// A ledger of an earlier version has no reasons. It is read as it is, and gets their columns when it is opened.
func TestALedgerWithoutReasons(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.db")
	store, err := OpenLedger(LedgerFile{File: file})
	require.NoError(t, err)
	clear := func(n byte) {
		key := [32]byte{n}
		_, err := store.Put(t.Context(), contextgc.Entry{Text: "text", Key: key[:], Segment: contextgc.Segment{Project: "p", Session: "s"}})
		require.NoError(t, err)
		_, err = store.Clear(t.Context(), contextgc.Place{ID: key, Marks: [][32]byte{key}, Why: "it pays", Pays: 3}, []contextgc.Clearing{{Item: key, Stub: "[cleared]"}})
		require.NoError(t, err)
	}
	clear(1)
	require.NoError(t, store.Close())
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	_, err = db.Exec(`ALTER TABLE decisions DROP COLUMN why; ALTER TABLE decisions DROP COLUMN pays`)
	require.NoError(t, err)
	require.NoError(t, db.Close())

	list, _, err := ReadLedger(file).Session(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Empty(t, list[0].Why)
	store, err = OpenLedger(LedgerFile{File: file})
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	clear(2)
	list, _, err = ReadLedger(file).Session(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Empty(t, list[0].Why)
	assert.Equal(t, "it pays", list[1].Why)
	assert.Equal(t, 3, list[1].Pays)
}
