package proxy

import (
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two proxies have the same history at the same time, and one takes the provider's cache for cold while it is warm for the other:
// the first decision that is stored holds for both, also where call ids are equal or missing.
func TestTwoProxiesDecideOnce(t *testing.T) {
	for path, render := range renderings {
		for form, id := range map[string]func(int) string{"long": idForms["long"], "same": idForms["same"], "none": func(int) string { return "" }} {
			file := database(t)
			proxies := []*rig{newRig(t, file, GC), newRig(t, file, GC)}
			for n := 1; n <= 15; n++ {
				var wg sync.WaitGroup
				got := [2]string{}
				for p := range proxies {
					wg.Go(func() { got[p] = string(proxies[p].post(t, path, render(steps(n, id)))) })
				}
				wg.Wait()
				require.Equal(t, got[0], got[1], "%s, %s ids, request %d", path, form, n)
				proxies[1].advance(70 * time.Minute)
			}
		}
	}
}

// Sub-agents continue one history in different ways, through two proxies in turn. What they have in common is sent as the same
// bytes.
func TestSubAgentsWithOneBeginning(t *testing.T) {
	file := database(t)
	proxies := []*rig{newRig(t, file, GC), newRig(t, file, GC)}
	render, id := renderings[messagesPath], idForms["same"]
	for n := 1; n <= 20; n++ {
		proxies[n%2].post(t, messagesPath, render(steps(n, id)))
	}
	sent := proxies[0].post(t, messagesPath, render(steps(20, id)))
	agent := func(name, n int) []step {
		list := steps(20, id)
		for i := range n {
			list = append(list, step{id: id(i), command: fmt.Sprintf("agent %d runs %d", name, i), output: output(100*name + i)})
		}
		return list
	}
	before := [4][]byte{sent, sent, sent, sent}
	for n := 1; n <= 10; n++ {
		for name := range before {
			got := proxies[(name+n)%2].post(t, messagesPath, render(agent(name, n)))
			if cleared(got) == cleared(before[name]) {
				assert.Equal(t, len(before[name])-len("]}"), common(before[name], got), "agent %d, request %d", name, n)
			}
			before[name] = got
		}
	}
	for name := range before {
		for p := range proxies {
			assert.Equal(t, string(before[name]), string(proxies[p].post(t, messagesPath, render(agent(name, 10)))))
		}
	}
}

// What the model brought back by the command in a stub stays for some calls, whatever it costs to keep, and is charged.
func TestWhatWasBroughtBackStays(t *testing.T) {
	r := newRig(t, database(t), GC)
	list := steps(20, idForms["long"])
	var got []byte
	for n := 1; n <= 20; n++ {
		if n == 20 {
			r.advance(2 * time.Hour)
		}
		got = r.post(t, messagesPath, renderings[messagesPath](list[:n]))
	}
	way := regexp.MustCompile("mcp-pruner recover prn_[0-9a-f]{8}").FindString(string(got))
	require.NotEmpty(t, way)
	list = append(list, step{id: idForms["long"](100), command: way, output: output(0) + "brought back"})
	for n := range 6 {
		r.advance(2 * time.Hour) // everything else may go
		got = r.post(t, messagesPath, renderings[messagesPath](list))
		assert.Equal(t, n < 4, regexp.MustCompile("brought back").Match(got), "call %d after it", n)
		list = append(list, step{id: idForms["long"](101 + n), command: "next", output: "done"})
	}
}
