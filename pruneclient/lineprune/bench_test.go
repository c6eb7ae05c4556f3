package lineprune

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// sampleCode is n lines of a made-up program.
func sampleCode(n int) string {
	var b strings.Builder
	for i := 0; b.Len() == 0 || i < n; i++ {
		switch i % 10 {
		case 0:
			fmt.Fprintf(&b, "// handle%d retries the request until its deadline.\n", i)
		case 1:
			fmt.Fprintf(&b, "func (c *Client) handle%d(ctx context.Context, attempt int) error {\n", i)
		case 8:
			b.WriteString("}\n")
		case 9:
			b.WriteString("\n")
		default:
			fmt.Fprintf(&b, "\tif err := c.send(ctx, attempt+%d); err != nil { return wrap(err, \"send\") }\n", i)
		}
	}
	return b.String()
}

// sampleLog is n lines of a made-up log.
func sampleLog(n int) string {
	var b strings.Builder
	for i := range n {
		if i%997 == 0 {
			fmt.Fprintf(&b, "2026-01-02T10:00:%02dZ ERROR upload %d rejected: quota exceeded\n", i%60, i)
			continue
		}
		fmt.Fprintf(&b, "2026-01-02T10:00:%02dZ INFO request %d served in %dms\n", i%60, i, i%250)
	}
	return b.String()
}

// sampleDocs is n lines of a made-up manual.
func sampleDocs(n int) string {
	var b strings.Builder
	for i := range n {
		switch i % 12 {
		case 0:
			fmt.Fprintf(&b, "## Section %d\n", i)
		case 1, 6:
			b.WriteString("\n")
		default:
			fmt.Fprintf(&b, "The timeout of paragraph %d is set in the configuration, and can be overridden.\n", i)
		}
	}
	return b.String()
}

// sampleGrep is n lines of a made-up list of matches.
func sampleGrep(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "pkg/file%d.go:%d:5:\treturn retry(ctx, attempt%d)\n", i/20, i%20*7+1, i)
	}
	return b.String()
}

var samples = map[Kind]func(int) string{Code: sampleCode, Logs: sampleLog, Docs: sampleDocs, Grep: sampleGrep}

const benchQuestion = "where does the client give up retrying a request after its deadline, and which error does it return?"

func benchPrune(b *testing.B, text string, kind Kind) {
	benchOptions(b, text, kind, Options{})
}

func benchOptions(b *testing.B, text string, kind Kind, opts Options) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Prune(context.Background(), text, benchQuestion, kind, opts); err != nil {
			b.Fatal(err)
		}
	}
}

// Doubling the number of lines should double the time: pruning is linear in the length of the text.
func BenchmarkLines(b *testing.B) {
	for _, kind := range []Kind{Code, Logs, Docs, Grep} {
		for _, n := range []int{5_000, 10_000, 20_000, 40_000} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) { benchPrune(b, samples[kind](n), kind) })
		}
	}
}

func BenchmarkFourMegabytes(b *testing.B) {
	for _, kind := range []Kind{Code, Logs, Docs, Grep} {
		text := samples[kind](100_000)
		text = text[:min(4<<20, len(text))]
		b.Run(string(kind), func(b *testing.B) { benchPrune(b, text, kind) })
	}
}

// The learned ranking in a session, at the length up to which it is used.
func BenchmarkLearned(b *testing.B) {
	call := session.Origin{Tool: "Read", Args: map[string]any{"file_path": "client.go"}, Context: []session.Event{
		{Kind: session.Say, Text: "The client gives up too early. Let me see how it counts the attempts before the deadline."},
		{Kind: session.Search, Text: "attempt.*deadline"},
		{Kind: session.Edit, File: "wrap.go", Text: "return wrap(err, \"send\")"},
	}}
	for _, kind := range []Kind{Code, Logs, Docs, Grep} {
		b.Run(string(kind), func(b *testing.B) { benchOptions(b, samples[kind](learned.MaxLines), kind, Options{Call: call}) })
	}
}
