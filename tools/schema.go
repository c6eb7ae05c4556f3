package tools

import (
	"bytes"
	"encoding/json"
)

// compact removes the layout of a schema. Its arguments are literals of this package, so an
// invalid one is a bug.
func compact(schema string) json.RawMessage {
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(schema)); err != nil {
		panic("tools: schema: " + err.Error())
	}
	return out.Bytes()
}
