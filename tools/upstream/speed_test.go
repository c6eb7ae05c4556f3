package upstream

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-pruner/tools/tokens"
)

// crowd returns 70 servers with 527 tools in total, as many as in the annotated benchmark.
func crowd(t testing.TB) []Server {
	t.Helper()
	verbs := []string{"list", "get", "create", "update", "delete", "search", "archive", "export"}
	nouns := []string{"invoice", "customer", "report", "calendar_event", "document", "ticket", "image"}
	var servers []Server
	for n, left := 0, 527; n < 70; n++ {
		count := min(left-(69-n), 4+n%8)
		if n == 69 {
			count = left
		}
		left -= count
		var list []string
		for i := range count {
			list = append(list, fmt.Sprintf(`{"name":"%s_%s","description":%q,"inputSchema":{"type":"object","properties":{`+
				`"id":{"type":"string","description":"The identifier of the entry, as list returns it."},`+
				`"limit":{"type":"integer","minimum":1,"maximum":100,"default":20,"description":"How many entries to return at most."},`+
				`"format":{"type":"string","enum":["short","full","raw"],"description":"How much of each entry to return."},`+
				`"filter":{"type":"object","properties":{"since":{"type":"string","format":"date-time"},"owner":{"type":"string"}}}},"required":["id"]}}`,
				verbs[i%len(verbs)], nouns[(n+i/len(verbs))%len(nouns)],
				strings.Repeat("Does what its name says with the entries of the account. ", 1+n%4)))
		}
		tools, problems, err := ParseList(fmt.Sprintf("server%d", n), json.RawMessage(`{"tools":[`+strings.Join(list, ",")+`]}`))
		require.NoError(t, err)
		require.Empty(t, problems)
		servers = append(servers, Server{Name: fmt.Sprintf("server%d", n), Tools: tools})
	}
	return servers
}

var crowdOptions = Options{Target: DefaultTarget, Tokens: tokens.Estimate}

// TestALargeListIsMadeQuickly fails when building the list takes several times as long as
// it should. The limit is generous: BenchmarkBuild measures the time.
func TestALargeListIsMadeQuickly(t *testing.T) {
	servers := crowd(t)
	tools := 0
	for _, s := range servers {
		tools += len(s.Tools)
	}
	require.Equal(t, 527, tools)
	began := time.Now()
	list := Build(servers, Grouped, crowdOptions)
	assert.Less(t, time.Since(began), time.Minute)
	assert.Less(t, len(list.Tools), 200)
}

func BenchmarkBuild(b *testing.B) {
	servers := crowd(b)
	for b.Loop() {
		Build(servers, Grouped, crowdOptions)
	}
}
