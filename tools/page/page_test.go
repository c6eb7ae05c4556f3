package page

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWrite(t *testing.T) {
	var out strings.Builder
	p := Page{Title: "a <b>", CSS: ".own{}", JS: "start()", Body: `<p>{{.}}</p>`, Data: map[string]string{"x": "</script><script>"}}
	require.NoError(t, p.Write(&out, "<i>"))
	html := out.String()
	for _, want := range []string{
		"<title>a &lt;b&gt;</title>", ".own{}</style>", "--page: light-dark(", "<p>&lt;i&gt;</p>", "<script>start()</script>", "script-src 'unsafe-inline'",
		`<script type="application/json" id="data">{"x":"\u003c/script\u003e\u003cscript\u003e"}</script>`,
	} {
		assert.Contains(t, html, want)
	}
}

// A page without a script of its own forbids all scripts, and has no data for one.
func TestWriteWithoutScripts(t *testing.T) {
	var out strings.Builder
	require.NoError(t, Page{Title: "x", Body: "text"}.Write(&out, nil))
	assert.NotContains(t, out.String(), "script")
	assert.Contains(t, out.String(), "default-src 'none'")
}

func TestABodyThatIsNoTemplate(t *testing.T) {
	err := Page{Title: "x", Body: "{{"}.Write(&strings.Builder{}, nil)
	require.ErrorContains(t, err, `page "x": template: body:1: `)
}
