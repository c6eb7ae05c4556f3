package assemble

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/states/store"
)

// The option goes before a kind's own setting, and that before the setting for all; with a database nothing else may be
// named.
func TestLocate(t *testing.T) {
	const db = "postgres://u@h/d"
	for _, c := range []struct {
		given, own, all string
		want            Place
		refused         string
	}{
		{"", "", "", Place{}, ""},
		{"", "", "sqlite:/s", Place{File: "/s.x"}, ""},
		{"", "/own", "sqlite:/s", Place{File: "/own"}, ""},
		{"/given", "/own", "sqlite:/s", Place{File: "/given"}, ""},
		{"sqlite:/given", "/own", "", Place{File: "/given"}, ""},
		{"", "sqlite:/own", "", Place{File: "/own"}, ""},
		{"", "", db, Place{Database: store.Database{Name: db}}, ""},
		{db, "", "", Place{Database: store.Database{Name: db}}, ""},
		{db, "", db, Place{Database: store.Database{Name: db}}, ""},
		{"/given", "", db, Place{}, "--store names a file and MCP_PRUNER_STORE a database"},
		{"", "/own", db, Place{}, "MCP_PRUNER_GC_STORE names a file and MCP_PRUNER_STORE a database"},
		{db, "/own", "", Place{}, "MCP_PRUNER_GC_STORE names a file"},
		{db, "", "sqlite:/s", Place{}, "keep one of them"},
		{"", "", "mysql://u:secret@h/d", Place{}, "MCP_PRUNER_STORE: want sqlite:FILE or postgres://USER@HOST/DATABASE"},
		{"postgres://u:secret@h/d", "", "", Place{}, "without its password"},
	} {
		env := map[string]string{ledgerSetting: c.own, "MCP_PRUNER_STORE": c.all}
		got, err := Locate(c.given, ledgerSetting, ".x", func(name string) (string, bool) { v, ok := env[name]; return v, ok })
		if c.refused != "" {
			assert.ErrorContains(t, err, c.refused)
			assert.NotContains(t, err.Error(), "secret")
			continue
		}
		assert.NoError(t, err)
		assert.Equal(t, c.want, got, "%+v", c)
	}
}
