package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// Dimensions of the picture, in pixels unless said otherwise.
const (
	width   = 1000
	top     = 74  // below the headings
	left    = 28  // where the bars of the whole file begin
	thin    = 220 // width of the bars of the whole file
	right   = 290 // where the pruned text begins
	leading = 17
	columns = 88 // of the pruned text that are shown, in characters
	rows    = 24 // of the pruned text that are shown, in lines
)

// style has light and dark colours. The reader's setting selects them, even where the SVG is shown as an image.
const style = `
.back{fill:#fff}.panel{fill:#f6f8fa;stroke:#d1d9e0}.text{fill:#1f2328}.soft{fill:#59636e}.cut{fill:#d1d9e0}.kept{fill:#1a7f37}.gap{fill:#0a58ca}
@media (prefers-color-scheme:dark){.back{fill:#0d1117}.panel{fill:#161b22;stroke:#30363d}.text{fill:#e6edf3}.soft{fill:#9198a1}.cut{fill:#30363d}.kept{fill:#3fb950}.gap{fill:#6cb0ff}}
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre}.head{font:600 16px system-ui,sans-serif}.small{font:13px system-ui,sans-serif}`

// draw draws every line of the log as a bar, kept lines in green, and to the right of them what the agent reads.
func draw(lines, read []string) []byte {
	shown := read[:min(len(read), rows)]
	height := top + (len(shown)+1)*leading
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s"><style>%s</style><rect class="back" width="100%%" height="100%%"/>`,
		width, height+14, escaped(fmt.Sprintf("A log of %d lines, and the %d lines an agent reads of it", len(lines), len(read))), style)
	text(&b, "head text", left, 30, command)
	text(&b, "small soft", left, 52, fmt.Sprintf("%s lines, %s bytes; green: kept", thousands(len(lines)), thousands(len(strings.Join(lines, "\n")))))
	text(&b, "head text", right, 30, fmt.Sprintf("What the agent reads: %d lines, %s bytes", len(read), thousands(len(strings.Join(read, "\n")))))
	text(&b, "small soft", right, 52, fmt.Sprintf("told: “%s”", asked))
	bars(&b, lines, keptLines(lines, read), height)
	fmt.Fprintf(&b, `<rect class="panel" x="%d" y="%d" width="%d" height="%d" rx="6"/>`, right-12, top-12, width-right-12, height-top+12)
	for i, line := range shown {
		class := "text"
		if _, gap := gapEnd(line); gap || strings.HasPrefix(line, "[") {
			class = "gap"
		}
		text(&b, class, right, top+(i+1)*leading-6, clipped(line))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// bars draws each line as a thin bar with the line's indentation and length.
func bars(b *bytes.Buffer, lines []string, kept []bool, height int) {
	step := float64(height-top) / float64(len(lines))
	thick := step * 0.75
	for i, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, "\t"))
		body := len(strings.TrimSpace(line))
		if body == 0 {
			continue
		}
		class, high := "cut", thick
		if kept[i] {
			class, high = "kept", max(thick, 1.5) // else it would not be seen
		}
		x := min(indent*8, thin/2)
		fmt.Fprintf(b, `<rect class="%s" x="%d" y="%.1f" width="%d" height="%.1f"/>`, class, left+x, float64(top)+float64(i)*step, min(body*3, thin-x), high)
	}
}

// keptLines returns, for each line of a file, whether the pruned text has it.
func keptLines(lines, pruned []string) []bool {
	kept := make([]bool, len(lines))
	at := 0
	for _, p := range pruned {
		if from, ok := gapEnd(p); ok {
			at = max(at, from)
			continue
		}
		for i := at; i < len(lines); i++ {
			if lines[i] == p {
				kept[i], at = true, i+1
				break
			}
		}
	}
	return kept
}

// gapEnd returns the number of the last line that a gap mark stands for.
func gapEnd(line string) (end int, ok bool) {
	var first int
	if n, _ := fmt.Sscanf(line, "... %d-%d", &first, &end); n == 2 {
		return end, true
	}
	n, _ := fmt.Sscanf(line, "... %d", &end)
	return end, n == 1
}

func text(b *bytes.Buffer, class string, x, y int, s string) {
	fmt.Fprintf(b, `<text class="%s" x="%d" y="%d">%s</text>`, class, x, y, escaped(s))
}

func escaped(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // writing to a buffer never fails
	return b.String()
}

// clipped returns the first columns characters of a line.
func clipped(line string) string {
	runes := []rune(line)
	if len(runes) <= columns {
		return line
	}
	return string(runes[:columns-1]) + "…"
}

func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
