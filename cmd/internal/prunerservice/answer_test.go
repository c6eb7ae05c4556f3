package prunerservice

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func recoverArgs(id any, numbered bool, ranges ...[2]int) map[string]any {
	list := []map[string]int{}
	for _, r := range ranges {
		list = append(list, map[string]int{"start_line": r[0], "end_line": r[1]})
	}
	return map[string]any{"prune_id": id, "ranges": list, "include_line_numbers": numbered}
}

func repeated(n int, r [2]int) (list [][2]int) {
	for range n {
		list = append(list, r)
	}
	return list
}

// However long a text and whatever is in it, it comes back as it was.
func TestAnswersCarryAnyText(t *testing.T) {
	s, r := serving(t, nil)
	odd := "\"\\\x00\x1b\u2028é日本😀<&>\r\t\x7f"
	for name, text := range map[string]string{
		"empty":    "",
		"odd":      odd + "\n",
		"pieces":   strings.Repeat(odd+"x", 20_000),
		"one line": strings.Repeat("😀", 100_000) + "x",
		"shifted":  "x" + strings.Repeat("😀", 100_000),
		"newlines": strings.Repeat("\n", 300_000),
	} {
		args := pruneArgs(text, "g")
		args["options"].(map[string]any)["max_prune_ratio"] = 0
		res := r.tool(t, "prune_text", args)
		assert.True(t, res["pruned_text"] == text, name)
		if text == "" {
			continue
		}
		got := r.tool(t, "recover_text", recoverArgs(res["prune_id"], false, [2]int{1, 1 << 30}))
		assert.True(t, got["raw_text"] == text, name)
		assert.Equal(t, "original", got["metadata"].(map[string]any)["line_numbering"])
	}
	requireIdle(t, s, bodyBudget)
}

// A small request cannot ask for an answer of any size.
func TestAnswersHaveALimit(t *testing.T) {
	s, r := serving(t, nil)
	line := strings.Repeat("y", 1_000_000)
	id := r.tool(t, "prune_text", pruneArgs(line+"\nz\n", "g"))["prune_id"]
	twice := r.tool(t, "recover_text", recoverArgs(id, false, [2]int{2, 2}, [2]int{1, 2}, [2]int{1, 1}))
	assert.True(t, twice["raw_text"] == "z\n"+line+"\nz\n"+line, "overlaps are repeated")

	for name, args := range map[string]map[string]any{
		"lines":    recoverArgs(id, true, repeated(2000, [2]int{1, 1})...),
		"searched": recoverArgs(id, true, repeated(2000, [2]int{1, 1})...),
	} {
		if name == "searched" {
			args["pattern"] = "none"
		}
		body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "recover_text", "params": args})
		require.NoError(t, err)
		_, got := r.post(t, "/rpc", string(body))
		assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"answer_too_large: ask for fewer or smaller ranges at once","data":{"code":"answer_too_large","max_bytes":33554432}}}`, got, name)
	}
	requireIdle(t, s, bodyBudget)
}

// Large answers wait for each other; who takes none is given up.
func TestAnswersNobodyTakes(t *testing.T) {
	s, r := serving(t, func(s *server) { s.bodies.stall = 200 * time.Millisecond })
	id := r.tool(t, "prune_text", pruneArgs(strings.Repeat("y", 1_000_000), "g"))["prune_id"]
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "recover_text", "params": recoverArgs(id, false, repeated(30, [2]int{1, 1})...)})
	require.NoError(t, err)
	for range 3 { // together more than there is room for
		begin(t, r, "/rpc", fmt.Sprint("Content-Length: ", len(body)), string(body))
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			resp, err := http.Post(r.url+"/rpc", "application/json", strings.NewReader(string(body)))
			if assert.NoError(t, err) {
				n, err := io.Copy(io.Discard, resp.Body)
				assert.NoError(t, err)
				assert.Greater(t, n, int64(30_000_000))
				_ = resp.Body.Close()
			}
		})
	}
	all.Wait()
	requireIdle(t, s, bodyBudget)
}
