package redirect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// world is a user's home folder and a project.
type world struct {
	t         *testing.T
	home, dir string
	env       []string
}

func newWorld(t *testing.T, env ...string) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir(), dir: t.TempDir()}
	w.env = append([]string{"HOME=" + w.home}, env...)
	return w
}

func (w *world) write(text string, path ...string) {
	w.t.Helper()
	file := filepath.Join(path...)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(w.t, os.WriteFile(file, []byte(text), 0o600))
}

var at = Proxy{Address: "http://127.0.0.1:4000", Secret: "mcpp_x", Folder: "/run"}

// found returns the upstream, or the refusal, and the change.
func (w *world) found(client string, args ...string) (to string, c Change) {
	w.t.Helper()
	plan, err := Find(client, Start{Env: w.env, Dir: w.dir, Args: args})
	if err != nil {
		require.ErrorAs(w.t, err, new(Refusal))
		return "refused: " + err.Error(), Change{}
	}
	c, err = plan.Change(at)
	require.NoError(w.t, err)
	for _, arg := range c.Args {
		assert.NotContains(w.t, arg, at.Secret, "other users can read command lines")
	}
	for _, route := range []string{"", "anthropic", "corp"} {
		if u := plan.Upstreams[route]; u != nil {
			to += route + " " + u.String() + " "
		}
	}
	return strings.TrimSpace(to), c
}

const ownURL = "ANTHROPIC_BASE_URL=http://127.0.0.1:4000/mcpp_x"

func TestClaude(t *testing.T) {
	t.Run("nothing is configured", func(t *testing.T) {
		to, c := newWorld(t).found("claude", "-p", "hi")
		assert.Equal(t, "https://api.anthropic.com", to)
		assert.Equal(t, Change{Env: []string{ownURL, "ANTHROPIC_DEFAULT_HAIKU_MODEL=claude-haiku-4-5-20251001"}, Args: []string{"-p", "hi"}}, c)
		for _, own := range []string{"ANTHROPIC_DEFAULT_HAIKU_MODEL=mine", "ANTHROPIC_SMALL_FAST_MODEL=mine"} {
			_, c = newWorld(t, own).found("claude")
			assert.Equal(t, []string{ownURL}, c.Env, "the user has one")
		}
	})
	t.Run("an address in the environment", func(t *testing.T) {
		to, c := newWorld(t, "ANTHROPIC_BASE_URL=https://corp.example/llm?key=k").found("claude")
		assert.Equal(t, "https://corp.example/llm?key=k", to)
		assert.Contains(t, c.Env, ownURL)
		assert.Empty(t, c.Files)
	})
	t.Run("an address in the settings wins, and so does ours over it", func(t *testing.T) {
		w := newWorld(t, "ANTHROPIC_BASE_URL=https://other.example")
		w.write(`{"env":{"ANTHROPIC_BASE_URL":"https://user.example"}}`, w.home, ".claude", "settings.json")
		to, c := w.found("claude", "--settings", `{"model":"m","env":{"A":"b"}}`, "--", "--settings")
		assert.Equal(t, "https://user.example", to)
		file := filepath.Join("/run", "settings.json")
		assert.Equal(t, []string{"--settings", file, "--", "--settings"}, c.Args)
		assert.JSONEq(t, `{"model":"m","env":{"A":"b","ANTHROPIC_BASE_URL":"http://127.0.0.1:4000/mcpp_x"}}`, c.Files[file])
		w.write(`{"env":{"ANTHROPIC_BASE_URL":"https://project.example"}}`, w.dir, ".claude", "settings.json")
		to, _ = w.found("claude")
		assert.Equal(t, "https://project.example", to)
		w.write(`{"env":{"ANTHROPIC_BASE_URL":"https://local.example"}}`, w.dir, ".claude", "settings.local.json")
		to, _ = w.found("claude")
		assert.Equal(t, "https://local.example", to)
		w.write(`{"env":{"ANTHROPIC_BASE_URL":"https://given.example"}}`, w.dir, "given.json")
		to, _ = w.found("claude", "--settings=given.json")
		assert.Equal(t, "https://given.example", to)
	})
	t.Run("the proxy of init is no upstream", func(t *testing.T) {
		w := newWorld(t)
		w.write(`{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:8787","ANTHROPIC_CUSTOM_HEADERS":"A: b\nX-Mcp-Pruner-Secret: mcpp_1"}}`, w.home, ".claude", "settings.json")
		to, c := w.found("claude")
		assert.Equal(t, "https://api.anthropic.com", to)
		assert.Len(t, c.Files, 1)
		plan, err := Find("claude", Start{Env: w.env, Dir: w.dir})
		require.NoError(t, err)
		assert.Equal(t, []string{"http://127.0.0.1:8787"}, plan.Passed)
	})
	t.Run("other providers", func(t *testing.T) {
		for _, name := range []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"} {
			to, _ := newWorld(t, name+"=1").found("claude")
			assert.Regexp(t, `^refused: Claude Code uses .* \(`+name+`=1\), whose requests the proxy cannot work on`, to)
			to, _ = newWorld(t, name+"=0").found("claude")
			assert.Equal(t, "https://api.anthropic.com", to)
			w := newWorld(t)
			w.write(`{"env":{"`+name+`":"true"}}`, w.dir, ".claude", "settings.json")
			to, _ = w.found("claude")
			assert.Contains(t, to, "refused: ")
		}
		to, _ := newWorld(t, "ANTHROPIC_BASE_URL=ftp://x").found("claude")
		assert.Contains(t, to, "refused: ")
	})
}

func TestCodex(t *testing.T) {
	option := func(c Change, key string) string {
		for i, arg := range c.Args {
			if value, ok := strings.CutPrefix(arg, key+"="); ok && c.Args[i-1] == "--config" {
				return value
			}
		}
		return ""
	}
	t.Run("its own provider", func(t *testing.T) {
		to, c := newWorld(t).found("codex", "exec", "hi")
		assert.Empty(t, to, "each request says whether it has a key or a login")
		assert.Equal(t, []string{"OPENAI_PROJECT=mcpp_x"}, c.Env)
		assert.Equal(t, `"http://127.0.0.1:4000/v1"`, option(c, "openai_base_url"))
		assert.NotContains(t, strings.Join(c.Args, " "), "model_provider", "else sessions are filed under another provider")
		assert.Equal(t, []string{"exec", "hi"}, c.Args[len(c.Args)-2:])
		_, c = newWorld(t, "OPENAI_PROJECT=proj_1").found("codex")
		assert.Equal(t, []string{"OPENAI_PROJECT=proj_1 mcpp_x"}, c.Env)
	})
	t.Run("an address of its own provider", func(t *testing.T) {
		w := newWorld(t)
		w.write("openai_base_url = \"https://corp.example/x/v1\"\n", w.home, ".codex", "config.toml")
		to, c := w.found("codex")
		assert.Equal(t, "https://corp.example", to)
		assert.Equal(t, `"http://127.0.0.1:4000/x/v1"`, option(c, "openai_base_url"))
		w.write("openai_base_url = \"http://127.0.0.1:8787/mcpp_"+strings.Repeat("0", 48)+"/v1\"\n", w.home, ".codex", "config.toml")
		to, _ = w.found("codex")
		assert.Empty(t, to, "the proxy of init is no upstream")
		plan, err := Find("codex", Start{Env: w.env, Dir: w.dir})
		require.NoError(t, err)
		assert.Equal(t, []string{"http://127.0.0.1:8787"}, plan.Passed)
	})
	w := newWorld(t)
	w.write("model_provider = \"corp\"\nprofile = \"p\"\n[model_providers.corp]\nbase_url = \"https://corp.example/openai/v1\"\n"+
		"[model_providers.two]\nbase_url = \"https://two.example\"\n[profiles.two]\nmodel_provider = \"two\"\n[profiles.aws]\nmodel_provider = \"amazon-bedrock\"\n", w.home, ".codex", "config.toml")
	for _, test := range []struct{ args, to, base string }{
		{"", "https://corp.example", `corp.base_url="http://127.0.0.1:4000/openai/v1"`},
		{"exec hi", "https://corp.example", `corp.base_url="http://127.0.0.1:4000/openai/v1"`},
		{"--profile two", "https://two.example", `two.base_url="http://127.0.0.1:4000"`},
		{"-p two exec", "https://two.example", `two.base_url="http://127.0.0.1:4000"`},
		{`exec -c model_provider="two"`, "https://two.example", `two.base_url="http://127.0.0.1:4000"`},
		{`exec -c model_provider=two --config model_providers.two.base_url="https://three.example/v1"`, "https://three.example", `two.base_url="http://127.0.0.1:4000/v1"`},
		{`exec -- -c model_provider=two`, "https://corp.example", `corp.base_url="http://127.0.0.1:4000/openai/v1"`},
		{"--profile aws", "refused: Codex uses Amazon Bedrock", ""},
		{"--oss", "refused: Codex uses a local model", ""},
		{"-c model_providers.two={}", "refused: --config model_providers.two replaces a whole provider", ""},
		{`-c model_provider="a.b"`, "refused: the name of the provider", ""},
	} {
		to, c := w.found("codex", strings.Fields(test.args)...)
		assert.True(t, strings.HasPrefix(to, test.to), "%s: %s", test.args, to)
		if test.base != "" {
			assert.Contains(t, c.Args, "model_providers."+test.base, test.args)
			assert.NotContains(t, strings.Join(c.Args, " "), "three.example", "it would win")
		}
	}
	t.Run("signed in with ChatGPT", func(t *testing.T) {
		w := newWorld(t)
		w.write(`{"OPENAI_API_KEY":null,"tokens":{"id_token":"x"}}`, w.home, ".codex", "auth.json")
		to, c := w.found("codex")
		assert.Empty(t, to)
		assert.Equal(t, `"http://127.0.0.1:4000/v1"`, option(c, "openai_base_url"))
	})
}

func TestGemini(t *testing.T) {
	w := newWorld(t)
	to, c := w.found("gemini")
	assert.Equal(t, "https://generativelanguage.googleapis.com", to)
	assert.Equal(t, []string{"GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4000/mcpp_x"}, c.Env)
	w.write("# mine\nexport GOOGLE_GEMINI_BASE_URL=\"https://corp.example\"\nX='y'\n", w.home, ".env")
	to, _ = w.found("gemini")
	assert.Equal(t, "https://corp.example", to)
	w.write("GOOGLE_GENAI_USE_VERTEXAI=true # ours\n", w.dir, ".gemini", ".env")
	to, _ = w.found("gemini")
	assert.Contains(t, to, "refused: Gemini CLI uses Google Vertex AI")
	require.NoError(t, os.RemoveAll(filepath.Join(w.dir, ".gemini")))
	for kind, refused := range map[string]bool{"gemini-api-key": false, "oauth-personal": true, "vertex-ai": true, "compute-default-credentials": true} {
		w.write(`{"security":{"auth":{"selectedType":"`+kind+`"}}} // mine`, w.home, ".gemini", "settings.json")
		to, _ = w.found("gemini")
		assert.Equal(t, refused, strings.HasPrefix(to, "refused: "), to)
	}
}

func TestOpencode(t *testing.T) {
	w := newWorld(t, `OPENCODE_CONFIG_CONTENT={"theme":"x","provider":{"corp":{"options":{"apiKey":"sk-1"}}}}`)
	w.write(`{"model":"corp/big", // mine
"provider":{"corp":{"options":{"baseURL":"https://corp.example/x/v1"}},"odd":{"options":{"baseURL":"{env:ODD}"}}}}`, w.home, ".config", "opencode", "opencode.jsonc")
	to, c := w.found("opencode", "run", "hi")
	assert.Equal(t, "anthropic https://api.anthropic.com corp https://corp.example", to)
	var content struct {
		Theme    string
		Provider map[string]struct {
			Options struct{ APIKey, BaseURL string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(c.Env[0], "OPENCODE_CONFIG_CONTENT=")), &content))
	assert.Equal(t, "x", content.Theme)
	assert.Equal(t, "sk-1", content.Provider["corp"].Options.APIKey)
	assert.Equal(t, "http://127.0.0.1:4000/mcpp_x/corp/x/v1", content.Provider["corp"].Options.BaseURL)
	assert.Equal(t, "http://127.0.0.1:4000/mcpp_x/anthropic/v1", content.Provider["anthropic"].Options.BaseURL)
	assert.NotContains(t, content.Provider, "odd")
	to, _ = w.found("opencode", "run", "-m", "amazon-bedrock/claude")
	assert.Contains(t, to, "refused: opencode uses the provider amazon-bedrock")
	w.write(`{"provider":{"corp":{"options":{"baseURL":"https://project.example"}}}}`, w.dir, "opencode.json")
	to, _ = w.found("opencode")
	assert.Contains(t, to, "corp https://project.example")
	shown := at
	shown.Shown = true
	plan, err := Find("opencode", Start{Env: w.env, Dir: w.dir})
	require.NoError(t, err)
	c, err = plan.Change(shown)
	require.NoError(t, err)
	assert.NotContains(t, c.Env[0], "sk-1")
}

// elsewhere is an address that nobody but the test's variables and files name.
const elsewhere = "https://elsewhere.example"

// A variable sends a client's key elsewhere only if the client itself obeys it: it is another program's otherwise. Which client
// obeys which was seen with the real ones (Claude Code 2.1.329, Codex 0.169, Gemini CLI 0.61, opencode 1.18.33).
func TestAVariableOfAnotherProgramDecidesNothing(t *testing.T) {
	obeyed := map[string][]string{
		"claude": {"ANTHROPIC_BASE_URL"}, "codex": {}, "gemini": {"GOOGLE_GEMINI_BASE_URL"}, "opencode": {"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"},
	}
	variables := []string{
		"ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE", "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_API_BASE_URL", "CODEX_BASE_URL", "GOOGLE_GEMINI_BASE_URL",
		"GOOGLE_GENAI_BASE_URL", "GEMINI_BASE_URL", "GOOGLE_GENERATIVE_AI_BASE_URL", "COPILOT_PROVIDER_BASE_URL", "LITELLM_BASE_URL", "MCP_PRUNER_PROXY_SECRET",
	}
	require.Len(t, obeyed, len(Clients()))
	for _, client := range Clients() {
		for _, variable := range variables {
			for _, login := range []string{"", `{"OPENAI_API_KEY":null,"tokens":{"id_token":"x"}}`} {
				w := newWorld(t, variable+"="+elsewhere+"/v1")
				w.write(login, w.home, ".codex", "auth.json")
				w.write(variable+"="+elsewhere+"/v1\n", w.home, ".codex", ".env")
				plan, err := Find(client, Start{Env: w.env, Dir: w.dir})
				if err != nil {
					require.ErrorAs(t, err, new(Refusal))
				}
				sent := false
				for _, to := range plan.Upstreams {
					sent = sent || to.Host == "elsewhere.example"
				}
				assert.Equal(t, slices.Contains(obeyed[client], variable), sent, "%s with %s", client, variable)
			}
		}
	}
}

// A file decides where a client's calls go only if the client reads it in this run.
func TestAFileThatTheClientDoesNotReadDecidesNothing(t *testing.T) {
	w := newWorld(t)
	w.write(`{"env":{"ANTHROPIC_BASE_URL":"`+elsewhere+`"}}`, w.dir, ".claude", "settings.json")
	for args, want := range map[string]string{
		"-p hi": elsewhere, "--setting-sources user -p hi": "https://api.anthropic.com", "--setting-sources=user,local": "https://api.anthropic.com",
		"--setting-sources user,project": elsewhere, "-p -- --setting-sources user": elsewhere,
	} {
		to, _ := w.found("claude", strings.Fields(args)...)
		assert.Equal(t, want, to, args)
	}
	w.write("openai_base_url = \""+elsewhere+"/v1\"\n", w.home, ".codex", "config.toml")
	to, _ := w.found("codex", "exec", "hi")
	assert.Equal(t, elsewhere, to)
	to, _ = w.found("codex", "exec", "--ignore-user-config", "hi")
	assert.Empty(t, to, "its own addresses")

	w.write(`{"provider":{"anthropic":{"options":{"baseURL":"`+elsewhere+`/v1"}}}}`, w.dir, "opencode.json")
	to, _ = w.found("opencode")
	assert.Equal(t, "anthropic "+elsewhere, to)
	w.env = append(w.env, "OPENCODE_DISABLE_PROJECT_CONFIG=1")
	to, _ = w.found("opencode")
	assert.Equal(t, "anthropic https://api.anthropic.com", to)
	w.env[len(w.env)-1] = "OPENCODE_CONFIG_DIR=" + filepath.Join(w.home, "more")
	w.write(`{"provider":{"anthropic":{"options":{"baseURL":"https://more.example/v1"}}}}`, w.home, "more", "opencode.json")
	to, _ = w.found("opencode")
	assert.Equal(t, "anthropic https://more.example", to)

	w.write("GOOGLE_GEMINI_BASE_URL="+elsewhere+"\n", w.dir, ".env")
	to, _ = w.found("gemini")
	assert.Contains(t, to, "refused: GOOGLE_GEMINI_BASE_URL stands in "+filepath.Join(w.dir, ".env")+", which Gemini CLI obeys only in a folder that it trusts")
}
