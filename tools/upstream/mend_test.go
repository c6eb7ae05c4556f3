package upstream

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSlipsInArgumentsArePutRight: only what the schema makes unmistakable changes.
func TestSlipsInArgumentsArePutRight(t *testing.T) {
	d := parse(t, "x", tool("x", "x", `{"type":"object","required":["must"],"properties":{
		"n":{"type":"integer"},"f":{"type":"number"},"b":{"type":"boolean"},"l":{"type":"array"},"o":{"type":"object"},"s":{"type":"string"},
		"either":{"anyOf":[{"type":"string"},{"type":"integer"}]},"none":{"type":["string","null"]},"must":{"type":"integer"},"any":{},
		"members":{"properties":{"a":{"type":"integer"}}},"list":{"items":{"type":"integer"}},"deep":{"type":"object","properties":{"a":{"type":"string"}}}}}`))[0]
	for given, want := range map[string]string{
		`{"n":null,"must":null,"none":null,"any":null}`:                  `{"must":null,"none":null,"any":null}`,
		`{"n":"5","f":"5","b":"true","l":"[1]","o":"{\"a\":1}","s":"5"}`: `{"n":5,"f":5,"b":true,"l":[1],"o":{"a":1},"s":"5"}`,
		`{"n":"5.5","b":"yes","l":"1, 2","o":"[]","f":"5 apples"}`:       `{"n":"5.5","b":"yes","l":"1, 2","o":"[]","f":"5 apples"}`,
		`{"members":"{\"a\":1}","list":"[1]","deep":{"a":"5"}}`:          `{"members":"{\"a\":1}","list":"[1]","deep":{"a":"5"}}`,
		`{"members":null,"list":null,"deep":null}`:                       `{"members":null,"list":null}`,
		`{"either":"5","any":"5","other":"5","n":""}`:                    `{"either":"5","any":"5","other":"5","n":""}`,
	} {
		var args map[string]any
		require.NoError(t, json.Unmarshal([]byte(given), &args))
		got, err := json.Marshal(d.mended(args))
		require.NoError(t, err)
		assert.JSONEq(t, want, string(got), given)
	}
}
