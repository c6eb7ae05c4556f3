package verbs

import (
	"encoding/json"
	"io"
)

// writeJSON writes a value that people may read, too. escape is for HTML, as in earlier versions of a verb.
func writeJSON(w io.Writer, v any, escape bool) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(escape)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
