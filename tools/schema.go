package tools

import (
	"bytes"
	"encoding/json"
)

// compact is a schema without its layout. The literals it gets are ours, so one
// that does not parse is a mistake in this package.
func compact(schema string) json.RawMessage {
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(schema)); err != nil {
		panic("tools: schema: " + err.Error())
	}
	return out.Bytes()
}
