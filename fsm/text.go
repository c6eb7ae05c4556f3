package fsm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

const timeLayout = "2006-01-02T15:04:05.000000Z07:00"

// TextSinkAt is JSONSinkAt for human readers: a line is the time, the level, the event and
// its fields as name=value, in the order of the schema.
func TextSinkAt(w io.Writer, least Level) func(time.Time, Event) {
	return func(at time.Time, e Event) {
		if zapLevel(e.Level) < zapLevel(least) {
			return
		}
		var b bytes.Buffer
		fmt.Fprintf(&b, "%s %-5s %s", at.UTC().Format(timeLayout), strings.ToUpper(string(e.Level)), e.Name)
		if e.RequestID != "" {
			b.WriteString(" request_id=" + e.RequestID)
		}
		if e.RunID != "" {
			b.WriteString(" run_id=" + e.RunID)
		}
		for _, field := range compiledSchemas[e.Name].Names {
			if value, ok := e.Data[field]; ok {
				b.WriteString(" " + field + "=" + textValue(value))
			}
		}
		b.WriteByte('\n')
		_, _ = w.Write(b.Bytes()) // there is nowhere to report a failed log write
	}
}

// textValue returns a plain word as it is, and any other value as JSON.
func textValue(v any) string {
	plain := func(r rune) bool { return r > ' ' && r <= '~' && r != '"' && r != '=' }
	if s, ok := v.(string); ok && s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "?"
	}
	return strings.TrimSuffix(b.String(), "\n")
}
