package promptcache

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	long  = strings.Repeat("one two three ", 3000)
	began = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
)

// request is one of Anthropic's API with a marked system prompt, some texts, and a mark of a lifetime on each that begins with "!".
func request(model, ttl string, texts ...string) string {
	mark := `,"cache_control":{"type":"ephemeral","ttl":"` + ttl + `"}`
	blocks := []string{}
	for _, text := range texts {
		set := ""
		if strings.HasPrefix(text, "!") {
			set = mark
		}
		blocks = append(blocks, `{"type":"text","text":"`+strings.TrimPrefix(text, "!")+`"`+set+`}`)
	}
	return `{"model":"` + model + `","tools":[{"name":"Bash"}],"system":[{"type":"text","text":"` + long + `"` + mark + `}],"messages":[{"role":"user","content":[` + strings.Join(blocks, ",") + `]}]}`
}

// numbered returns so many texts.
func numbered(n int) (texts []string) {
	for i := range n {
		texts = append(texts, fmt.Sprint("text ", i))
	}
	return texts
}

func send(t *testing.T, c *Cache, body string, after time.Duration) Usage {
	t.Helper()
	u, err := c.Send("/v1/messages", []byte(body), began.Add(after))
	require.NoError(t, err)
	return u
}

func TestEntriesAtMarks(t *testing.T) {
	system := Count("Bash\n") + Count(long+"\n")
	first := append([]string{long}, "!"+"a")
	for name, c := range map[string]struct {
		appended []string
		after    time.Duration
		whole    bool // all of the first prompt is read
		nothing  bool
	}{
		"20 blocks":              {append(numbered(19), "!end"), 0, true, false},
		"21 blocks":              {append(numbered(20), "!end"), 0, false, false},
		"21 blocks and one mark": {append(append(numbered(10), "!more"), append(numbered(9), "!end")...), 0, true, false},
		"after five minutes":     {[]string{"!end"}, 5*time.Minute + time.Second, false, true},
	} {
		var cache Cache
		one := send(t, &cache, request("claude-opus-5", "5m", first...), 0)
		assert.Equal(t, [3]int{0, 0, 0}, [3]int{one.Input, one.Read, one.Hour})
		two := send(t, &cache, request("claude-opus-5", "5m", append([]string{long, "a"}, c.appended...)...), c.after)
		switch {
		case c.nothing:
			assert.Zero(t, two.Read, name)
		case c.whole:
			assert.Equal(t, one.Prompt(), two.Read, name)
		default:
			assert.Equal(t, system, two.Read, "%s: tools and system", name)
		}
	}
}

// A hit renews, an hour's entry lasts an hour, and what follows the last mark is fresh.
func TestLifetimes(t *testing.T) {
	var c Cache
	one := send(t, &c, request("claude-opus-5", "1h", "!a", "b"), 0)
	assert.Equal(t, [3]int{Count("b\n"), 0, 0}, [3]int{one.Input, one.Read, one.Short})
	for i := range 3 {
		u := send(t, &c, request("claude-opus-5", "1h", "!a", "b"), time.Duration(i+1)*50*time.Minute)
		assert.Equal(t, Usage{Input: one.Input, Read: one.Hour}, u)
	}
	assert.Zero(t, send(t, &c, request("claude-opus-5", "1h", "!a", "b"), 5*time.Hour).Read)
	assert.InDelta(t, float64(one.Input)+2*float64(one.Hour), one.Price("claude-opus-5"), 1e-9)
	assert.InDelta(t, 10*float64(one.Hour), Usage{Hour: one.Hour + 200_000}.Price("claude-haiku-5-5")-10*200_000, 1e-6, "above its band")
}

// A changed block leaves what stands before it, up to the last mark.
func TestAChangedBlock(t *testing.T) {
	var c Cache
	send(t, &c, request("claude-opus-5", "5m", "!a", "b", "c", "!d"), 0)
	u := send(t, &c, request("claude-opus-5", "5m", "a", "changed", "c", "!d"), 0)
	assert.Equal(t, Count("Bash\n")+Count(long+"\n")+Count("a\n"), u.Read)
}

func TestWhatIsRefusedAndWhatIsNotKept(t *testing.T) {
	var c Cache
	for body, want := range map[string]string{
		request("claude-opus-5", "5m", "!a", "!b", "!c", "!d"):                                                                                         "maximum of 4",
		strings.Replace(request("claude-opus-5", "1h", "!a"), `"ttl":"1h"`, `"ttl":"5m"`, 1):                                                           "must not come after",
		strings.Replace(request("claude-opus-5", "5m", "!"), `"text":"","cache`, `"text":"","cache`, 1):                                                "empty",
		`{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"x"}]}]}`:                                            "different conversation",
		`{"messages":[{"role":"assistant","content":[{"type":"redacted_thinking","data":"x","signature":"x","cache_control":{"type":"ephemeral"}}]}]}`: "different conversation",
	} {
		assert.ErrorContains(t, Check("/v1/messages", []byte(body)), want)
	}
	short := strings.ReplaceAll(request("claude-opus-5", "5m", "!a"), long, "short")
	send(t, &c, short, 0)
	assert.Zero(t, send(t, &c, short, 0).Read, "below the smallest size")
}

// Without marks any beginning is found, in steps of 128 tokens from 1,024 on.
func TestACommonBeginning(t *testing.T) {
	for path, body := range map[string]string{
		"/v1/responses":                               `{"model":"gpt-6.2","instructions":"x","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"%s"}]}]}`,
		"/v1/chat/completions":                        `{"model":"gpt-6.2","messages":[{"role":"user","content":"%s"}]}`,
		"/v1beta/models/gemini-3-pro:generateContent": `{"contents":[{"role":"user","parts":[{"text":"%s"}]}]}`,
	} {
		var c Cache
		for _, n := range []int{100, 9000} {
			common := long[:n]
			_, err := c.Send(path, []byte(fmt.Sprintf(body, common+"one")), began)
			require.NoError(t, err)
			u, err := c.Send(path, []byte(fmt.Sprintf(body, common+"two more")), began)
			require.NoError(t, err)
			assert.Zero(t, u.Read%128, path)
			assert.InDelta(t, Count(common)*n/9000*n/9000, u.Read, 200, path)
			assert.Equal(t, n == 9000, u.Read >= 1024, path)
		}
	}
}

// A provider may lose a part of a prompt.
func TestALostPart(t *testing.T) {
	var marks, common Cache
	one := send(t, &marks, request("claude-opus-5", "5m", "!a", long, "!d"), 0)
	blocks, rest := marks.Find(.9)
	assert.Equal(t, 3, blocks, "tools, system and a")
	assert.InDelta(t, .8, rest, .01)
	marks.Lose(blocks, rest)
	u := send(t, &marks, request("claude-opus-5", "5m", "!a", long, "!d"), 0)
	assert.Equal(t, Count("Bash\n")+Count(long+"\n")+Count("a\n"), u.Read)
	assert.Equal(t, one.Prompt(), u.Prompt())

	body := []byte(`{"model":"gpt-6.2","messages":[{"role":"user","content":"` + long + `"}]}`)
	for _, part := range []float64{0, .5} {
		_, err := common.Send("/chat/completions", body, began)
		require.NoError(t, err)
		common.Lose(common.Find(part))
		u, err := common.Send("/chat/completions", body, began)
		require.NoError(t, err)
		assert.InDelta(t, part*float64(u.Prompt()), u.Read, 200)
	}
}
