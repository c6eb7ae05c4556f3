package upstream

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recordedCall is an MCP call of a recorded session.
type recordedCall struct {
	server, tool string
	args         map[string]any
}

// recordedCalls returns the MCP calls of recorded sessions, and for each server the tools that
// were called, with the parameters and types that occurred.
func recordedCalls(t *testing.T) (calls []recordedCall, servers map[string][]Definition) {
	t.Helper()
	values := map[string]map[string]map[string][]any{} // by server, tool and parameter
	for _, step := range sessionSteps(t) {
		parts := strings.SplitN(step.Tool, "__", 3)
		if step.K != "use" || len(parts) != 3 || parts[0] != "mcp" {
			continue
		}
		c := recordedCall{parts[1], parts[2], step.Args}
		calls = append(calls, c)
		if values[c.server] == nil {
			values[c.server] = map[string]map[string][]any{}
		}
		if values[c.server][c.tool] == nil {
			values[c.server][c.tool] = map[string][]any{}
		}
		for name, value := range c.args {
			values[c.server][c.tool][name] = append(values[c.server][c.tool][name], value)
		}
	}
	servers = map[string][]Definition{}
	for server, tools := range values {
		var defs []string
		for name, params := range tools {
			properties := map[string]any{}
			for param, list := range params {
				properties[param] = shapeOf(map[string]any{"enum": list}, shapeDetail{})
			}
			defs = append(defs, tool(name, "", string(compactJSON(map[string]any{"type": "object", "properties": properties}))))
		}
		slices.Sort(defs)
		servers[server] = parse(t, server, defs...)
	}
	return calls, servers
}

// TestRecordedCallsArriveAsTheyWere sends every MCP call of recorded sessions through the list
// of the tools that the sessions called, in every mode.
func TestRecordedCallsArriveAsTheyWere(t *testing.T) {
	calls, servers := recordedCalls(t)
	require.NotEmpty(t, calls)
	for _, mode := range []Mode{Grouped, Trimmed} {
		for _, split := range []bool{false, true} {
			o := options
			o.SplitRW = split
			exposed, actions := map[string]*Exposed{}, map[string]*Action{}
			for server, tools := range servers {
				list := Build([]Server{{Name: server, Tools: tools}}, mode, o)
				for i := range list {
					for j := range list[i].Actions {
						a := &list[i].Actions[j]
						exposed[server+"/"+a.Def.Name], actions[server+"/"+a.Def.Name] = &list[i], a
					}
				}
			}
			for _, c := range calls {
				name := c.server + "/" + c.tool
				call, _, refusal := exposed[name].Translate(actions[name].exposedArgs(c.args))
				require.Empty(t, refusal, name)
				require.Equal(t, c.tool, call.Def.Name)
				require.Equal(t, c.args, call.Arguments)
			}
		}
	}
}

// exposedArgs returns the arguments of an upstream call as a client of the exposed tool gives
// them.
func (a *Action) exposedArgs(upstream map[string]any) map[string]any {
	args := map[string]any{}
	for name, value := range upstream {
		shown := name
		for to, from := range a.Rename {
			if from == name {
				shown = to
			}
		}
		args[shown] = value
	}
	if a.Name != "" {
		args["action"] = a.Name
	}
	return args
}

type sessionStep struct {
	K    string
	Tool string
	Args map[string]any
}

func sessionSteps(t *testing.T) (steps []sessionStep) {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "shared", "fixtures", "sessions", "mcp-tools.jsonl.gz"))
	if os.IsNotExist(err) {
		t.Skip("the fixtures are not here")
	}
	require.NoError(t, err)
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	lines := bufio.NewScanner(zipped)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var session struct{ Steps []json.RawMessage }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &session))
		for _, raw := range session.Steps {
			var step sessionStep
			dec := json.NewDecoder(strings.NewReader(string(raw)))
			dec.UseNumber()
			if dec.Decode(&step) == nil {
				steps = append(steps, step)
			}
		}
	}
	require.NoError(t, lines.Err())
	return steps
}
