package proxy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// step is one model call of a simulated client: words of the person, or a command with its output.
type step struct{ id, command, output, words string }

// renderings write a history in the form of an API.
var renderings = map[string]func([]step) []byte{
	"/v1/messages": func(list []step) []byte {
		m := []any{map[string]any{"role": "user", "content": "fix the bug"}}
		for _, s := range list {
			if s.words != "" {
				m = append(m, map[string]any{"role": "assistant", "content": "Done."}, map[string]any{"role": "user", "content": s.words})
				continue
			}
			m = append(m,
				map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": s.id, "name": "Bash", "input": map[string]any{"command": s.command}}}},
				map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": s.id, "content": s.output}}})
		}
		return ordered("model", "claude-opus-5", "system", strings.Repeat("You are an agent. ", 2000), "tools", claudeTools, "messages", m)
	},
	"/v1beta/models/gemini-3-pro:generateContent": func(list []step) []byte {
		c := []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": "fix the bug"}}}}
		for _, s := range list {
			if s.words != "" {
				c = append(c, map[string]any{"role": "model", "parts": []any{map[string]any{"text": "Done."}}},
					map[string]any{"role": "user", "parts": []any{map[string]any{"text": s.words}}})
				continue
			}
			c = append(c,
				map[string]any{"role": "model", "parts": []any{map[string]any{"functionCall": map[string]any{"name": "run_shell_command", "args": map[string]any{"command": s.command}}}}},
				map[string]any{"role": "user", "parts": []any{map[string]any{"functionResponse": map[string]any{"name": "run_shell_command", "response": map[string]any{"output": s.output}}}}})
		}
		return ordered("systemInstruction", map[string]any{"parts": []any{map[string]any{"text": strings.Repeat("You are an agent. ", 2000)}}}, "tools", geminiTools, "contents", c)
	},
}

// idForms are the call ids of a large provider, and those of a local server.
var idForms = map[string]func(int) string{
	"long": func(i int) string { return fmt.Sprintf("toolu_01A2b3C4d5E6f7G8h9%04d", i) },
	"same": func(int) string { return "call_0" },
}

// steps returns the first n steps of a session in which every tenth is a question.
func steps(n int, id func(int) string) (list []step) {
	for i := range n {
		if i%10 == 9 {
			list = append(list, step{words: fmt.Sprintf("and now part %d", i)})
			continue
		}
		list = append(list, step{id: id(i), command: fmt.Sprintf("run %d", i), output: output(i)})
	}
	return list
}

func cleared(body []byte) int { return strings.Count(string(body), "[cleared ") }

// Whatever single result or text a client edits, removes or wraps, the others stay cleared, and so does everything in the
// requests that follow.
func TestAnEditLosesOnlyWhatItChanged(t *testing.T) {
	const n = 40
	stride := 1
	if testing.Short() {
		stride = 8
	}
	edits := map[string]func(list []step, i int) []step{
		"edited": func(list []step, i int) []step {
			if list[i].words != "" {
				list[i].words += " <system-reminder>be careful</system-reminder>"
			} else {
				list[i].output = "[Old tool result content cleared]"
			}
			return list
		},
		"removed": func(list []step, i int) []step { return slices.Delete(list, i, i+1) },
	}
	for path, render := range renderings {
		for form, id := range idForms {
			r := newRig(t, database(t), GC)
			var whole, sent []byte
			for k := 1; k <= n; k++ {
				whole = render(steps(k, id))
				sent = r.post(t, path, whole)
			}
			had := cleared(sent)
			require.Greater(t, had, 15)
			for name, edit := range edits {
				for i := 0; i < n; i += stride {
					t.Run(fmt.Sprintf("%s, %s ids, %s %d", path, form, name, i), func(t *testing.T) {
						next := edit(steps(n+1, id), i)
						got := r.post(t, path, render(next))
						assert.GreaterOrEqual(t, cleared(got), had-1)
						assert.Equal(t, string(got), string(r.post(t, path, render(next))))
					})
				}
			}
			assert.Equal(t, string(sent), string(r.post(t, path, whole)), "what was sent before the edits")
		}
	}
}

// A client that edits, wraps, prunes and reorders its own messages saves most of what an untouched one saves, and every
// history that was ever sent stays the same bytes: sent again, after a restart, in a fork, and by a second proxy.
func TestSelfEditingClients(t *testing.T) {
	calls, seeds := 60, uint64(2)
	if testing.Short() {
		calls, seeds = 30, 1
	}
	for path, render := range renderings {
		for form, id := range idForms {
			for seed := range seeds {
				t.Run(fmt.Sprintf("%s, %s ids, seed %d", path, form, seed), func(t *testing.T) {
					plain := newRig(t, database(t), GC)
					saved := 0
					for k := 1; k <= calls; k++ {
						body := render(steps(k, id))
						saved += len(body) - len(plain.post(t, path, body))
					}

					file := database(t)
					proxies := []*rig{newRig(t, file, GC), newRig(t, file, GC)}
					random := rand.New(rand.NewPCG(seed, 0))
					sent := make(map[string]string)
					send := func(list []step) int {
						body := string(render(list))
						p := proxies[random.IntN(2)]
						got := string(p.post(t, path, []byte(body)))
						if before, ok := sent[body]; ok {
							require.Equal(t, before, got, "a history of %d steps", len(list))
						}
						sent[body] = got
						p.server.feeding.Wait()
						return len(body) - len(got)
					}
					var list []step
					var histories [][]step
					edited := 0
					for k := 1; k <= calls; k++ {
						list = append(list, steps(k, id)[k-1])
						if random.IntN(4) == 0 {
							list = selfEdit(random, list)
						}
						edited += send(list)
						histories = append(histories, slices.Clone(list))
						again := histories[random.IntN(len(histories))]
						send(again)
						if random.IntN(6) == 0 { // a fork
							send(append(slices.Clone(again), step{id: id(1000 + k), command: "other", output: output(1000 + k)}))
						}
						if random.IntN(10) == 0 { // a restart
							proxies[random.IntN(2)] = newRig(t, file, GC)
						}
					}
					for _, h := range histories {
						send(h)
					}
					assert.Greater(t, float64(edited), .9*float64(saved), "bytes saved of %d", saved)
				})
			}
		}
	}
}

// selfEdit returns a history as a client rewrites it: a reminder is added to older words, an old output is shortened or
// wrapped, an old step is removed, or two exchange places.
func selfEdit(random *rand.Rand, list []step) []step {
	list = slices.Clone(list)
	i := random.IntN(len(list))
	switch random.IntN(4) {
	case 0:
		for j := range list {
			if list[j].words != "" {
				list[j].words += " <system-reminder>be careful</system-reminder>"
			}
		}
	case 1:
		if list[i].words == "" {
			list[i].output = "<output>" + list[i].output + "</output>"
		}
	case 2:
		if len(list) > 20 {
			return slices.Delete(list, i/2, i/2+1)
		}
	case 3:
		j := max(0, i-1)
		list[i], list[j] = list[j], list[i]
	}
	return list
}
