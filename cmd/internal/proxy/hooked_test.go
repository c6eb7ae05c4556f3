package proxy

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// What a hook cut is not cut again, and once it is cleared, its id brings back the original and not what the hook left. A text
// that only looks like one is a result like any other: so is one with a header and an id that are known, but with another text
// below them, which gets an id of its own and is recovered as it was.
func TestWhatAHookCutKeepsItsID(t *testing.T) {
	type is struct{ known, shown bool }
	for name, c := range map[string]is{"cut by a hook": {true, true}, "begins like it": {true, false}, "looks like it": {false, false}} {
		r := newRig(t, database(t), Both)
		id := "prn_00000000"
		originals := recovery.ArchiveIn(filesOf(r.engine).State)
		if c.known {
			var err error
			id, err = originals.Put(passed("package", "the original"), "", 1)
			require.NoError(t, err)
		}
		cut := existing.Header(existing.Cut{Kept: make([]int, 900), Total: 2000}, existing.DefaultBack+" "+id) + "\n" +
			passed("package", "--- FAIL: TestTotals (0.00s)\n    totals_test.go:12: got 3, want 4\nFAIL\tpackage/totals\t0.01s")
		if c.shown {
			require.NoError(t, originals.Index.Show(id, cut+"\n"))
		} else if c.known {
			require.NoError(t, originals.Index.Show(id, cut[:len(cut)-1]))
		}
		list := append([]step{{id: idForms["long"](1000), command: "go test ./...", output: cut}}, steps(40, idForms["long"])...)
		got := string(r.post(t, messagesPath, renderings[messagesPath](list[:1])))
		assert.Equal(t, c.known, strings.Contains(got, `package/number5\t`), "%s: it is not cut again", name)
		for n := 2; n <= 40; n++ {
			got = string(r.post(t, messagesPath, renderings[messagesPath](list[:n])))
		}
		assert.Equal(t, c.shown, strings.Contains(got, "`"+existing.DefaultBack+" "+id+"` prints them]"), name)
		if !c.shown {
			assert.Equal(t, cut, original(t, filesOf(r.engine), got), "%s: what stood there", name)
		}
	}
}

// What an agent brought back comes whole, and is cleared later under the id of the original. A part of it has an id of its own.
func TestWhatWasBroughtBackStaysWhole(t *testing.T) {
	failed := "--- FAIL: TestTotals (0.00s)\n    totals_test.go:12: got 3, want 4\nFAIL\tpackage/totals\t0.01s"
	for command, same := range map[string]bool{"mcp-pruner recover %s": true, "cd /r && '/opt/mcp-pruner' recover %s --lines 1-800": false, "./again.sh": false} {
		r := newRig(t, database(t), Both)
		state := filesOf(r.engine).State
		r.engine.Printed = recovery.Printed{State: state}
		whole := passed("package", failed) + "\n"
		id, err := recovery.ArchiveIn(state).Put(whole, "", 1)
		require.NoError(t, err)
		shown := strings.TrimSuffix(whole, "\n") // as clients show it
		if strings.Contains(command, "--lines") {
			shown = strings.Join(strings.Split(whole, "\n")[:800], "\n")
		}
		list := append([]step{{id: idForms["long"](1000), command: strings.Replace(command, "%s", id, 1), output: shown}}, steps(80, idForms["long"])...)
		if !strings.Contains(command, "recover") {
			got := string(r.post(t, messagesPath, renderings[messagesPath](list[:1])))
			require.NotContains(t, got, `package/number5\t`, "another text is cut")
			r = newRig(t, database(t), Both)
			r.engine.Printed = recovery.Printed{State: state}
			r.engine.Printed.Note(id, whole)
		}
		got := string(r.post(t, messagesPath, renderings[messagesPath](list[:1])))
		require.Contains(t, got, `package/number5\t`, command)
		for n := 2; n <= 80; n++ {
			got = string(r.post(t, messagesPath, renderings[messagesPath](list[:n])))
		}
		assert.False(t, strings.Contains(got, `package/number5\t`), "%s: it is cleared", command)
		assert.Equal(t, same, strings.Contains(got, "`"+existing.DefaultBack+" "+id+"` prints them]"), command)
	}
}

// A call whose result was pruned, and that is made again before anything has changed, comes whole.
func TestTheSameCallAgainComesWhole(t *testing.T) {
	log := passed("package", "--- FAIL: TestTotals (0.00s)\n    totals_test.go:12: got 3, want 4\nFAIL\tpackage/totals\t0.01s")
	for between, whole := range map[string]int{"git status": 1, "git checkout main": 0} {
		r := newRig(t, database(t), Prune)
		id := idForms["long"]
		list := []step{{id: id(1), command: "go test ./...", output: log}, {id: id(2), command: between, output: "done"},
			{id: id(3), command: "go test ./...", output: log}, {id: id(4), command: "pwd", output: "/r"}}
		var got string
		for n := 1; n <= len(list); n++ {
			got = string(r.post(t, messagesPath, renderings[messagesPath](list[:n])))
		}
		assert.Equal(t, whole, strings.Count(got, `package/number5\t`), between)
	}
}

// What a user pinned stays, also if a hook stored it and the model sees it in another form. A result that both saw is in the ledger
// once.
func TestAPinnedSegmentOfAHookStays(t *testing.T) {
	file := database(t)
	r := newRig(t, file, GC)
	list := steps(40, idForms["long"])
	c, err := wire.APIOf(messagesPath).Parse(renderings[messagesPath](list[:1]))
	require.NoError(t, err)
	stored := 0
	for i, s := range list {
		if s.id == "" {
			continue
		}
		stored++
		hook := ledger.Spooler{Spool: ledger.SpoolOf(file), Call: s.id, Text: s.output, Segment: contextgc.Segment{Project: "p", Session: c.Session, Tool: "Bash"}}
		if i == 0 {
			hook.Segment.Pinned, hook.Text = true, "the same in the hook's form"
		}
		hook.Sent(2000)
	}
	require.NoError(t, ledger.SpoolOf(file).Drain(t.Context(), r.store))
	var got string
	for n := 1; n <= len(list); n++ {
		got = string(r.post(t, messagesPath, renderings[messagesPath](list[:n])))
	}
	assert.Contains(t, got, "line of the output of call 0,", "it is pinned")
	assert.NotContains(t, got, "line of the output of call 1,", "it is not")
	size, err := r.store.Size(t.Context())
	require.NoError(t, err)
	assert.Equal(t, stored, size.Segments)
}

// A ledger that is cleaned while the proxy runs has no text for the stubs any more: results are sent whole, or are
// stored and cleared anew.
func TestACleanedLedgerLeavesNoStubs(t *testing.T) {
	r := newRig(t, database(t), GC)
	list := steps(40, idForms["long"])
	var got string
	for n := 1; n <= len(list); n++ {
		got = string(r.post(t, messagesPath, renderings[messagesPath](list[:n])))
	}
	require.NotContains(t, got, "line of the output of call 1,")
	removed, err := r.store.Clean(t.Context(), contextgc.Limits{Age: time.Nanosecond})
	require.NoError(t, err)
	require.NotZero(t, removed)
	r.advance(time.Minute)
	got = string(r.post(t, messagesPath, renderings[messagesPath](list)))
	for _, id := range shownID.FindAllStringSubmatch(got, -1) {
		assert.Contains(t, original(t, filesOf(r.engine), "mcp-pruner recover "+id[1]), "line of the output of call")
	}
}
