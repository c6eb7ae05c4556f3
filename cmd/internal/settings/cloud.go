package settings

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/deepinfra"
)

// fileSettings holds the TOML file's section [mcp_pruner]. A value of the wrong type is skipped; all others count.
type fileSettings struct {
	Backend         any `toml:"backend"`
	TimeoutMS       any `toml:"deepinfra_timeout_ms"`
	MaxDocs         any `toml:"deepinfra_max_docs"`
	CacheTTL        any `toml:"cache_ttl_s"`
	CacheMaxEntries any `toml:"cache_max_entries"`
	CacheMaxItems   any `toml:"cache_max_items"`
	Key             any `toml:"deepinfra_api_key"` // only to warn that it is ignored
}

// LoadPruner reads the settings of the line pruner's service: the common ones and those of the cloud backend. The
// environment takes precedence over the TOML file. The key is read from the environment only.
func LoadPruner(flags map[string]string, lookup Lookup) (s Settings, err error) {
	s, _, err = Load(Pruner, flags, lookup)
	v := &variables{lookup: lookup}
	file := v.file("MCP_PRUNER_CONFIG")
	if file.Key != nil {
		v.note("deepinfra_api_key in the configuration file is ignored; set DEEPINFRA_API_KEY")
	}
	if v.wantsCloud(file.Backend) {
		s.Cloud = v.deepInfra(file)
	}
	s.Notes = v.notes
	return s, errors.Join(append([]error{err}, v.problems...)...)
}

// wantsCloud reports whether the backend is the cloud. The environment takes precedence over the file. Unknown words
// are skipped, and the default is local.
func (v *variables) wantsCloud(inFile any) bool {
	const allowed = "heuristic, deepinfra or cloud"
	word, _ := inFile.(string)
	cloud, known := namesCloud(word)
	if inFile != nil && !known {
		v.note("the configuration file's backend is ignored: want %s", allowed)
	}
	value := v.text("KIMI_PRUNING_BACKEND", "")
	if value == "" {
		return cloud
	}
	if asked, known := namesCloud(value); known {
		return asked
	}
	v.note("KIMI_PRUNING_BACKEND=%q is ignored: want %s", value, allowed)
	return cloud
}

func namesCloud(word string) (cloud, known bool) {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "deepinfra", "cloud":
		return true, true
	case "heuristic":
		return false, true
	}
	return false, false
}

// deepInfra reads the cloud's settings. An invalid number is never fatal, just as a failure of the cloud is not: it
// is reported, and the file's value or the default is used.
func (v *variables) deepInfra(file fileSettings) *deepinfra.Settings {
	timeout := v.lenient("DEEPINFRA_TIMEOUT_MS", file.TimeoutMS, int(deepinfra.DefaultTimeout/time.Millisecond), 1, 3_600_000)
	ttl := time.Duration(v.lenient("MCP_PRUNER_CACHE_TTL_S", file.CacheTTL, int(deepinfra.DefaultCacheTTL/time.Second), 0, 30*24*3600)) * time.Second
	inFile := file.CacheMaxEntries
	if inFile == nil {
		inFile = file.CacheMaxItems
	}
	items := v.lenient("MCP_PRUNER_CACHE_MAX_ENTRIES", inFile, deepinfra.DefaultCacheMaxItems, 0, 1<<20)
	items = v.lenient("MCP_PRUNER_CACHE_MAX_ITEMS", nil, items, 0, 1<<20) // the name takes precedence over its alias
	docs := v.lenient("DEEPINFRA_MAX_DOCS", file.MaxDocs, deepinfra.DefaultMaxDocs, math.MinInt, math.MaxInt)
	s := &deepinfra.Settings{
		Endpoint: v.text("DEEPINFRA_ENDPOINT_URL", deepinfra.DefaultEndpoint),
		Key:      v.text("DEEPINFRA_API_KEY", ""),
		Timeout:  time.Duration(timeout) * time.Millisecond,
		MaxDocs:  min(max(docs, 1), deepinfra.MaxDocs),
		CacheTTL: &ttl, CacheMaxItems: &items,
	}
	if !isHTTP(s.Endpoint) {
		v.refuse("DEEPINFRA_ENDPOINT_URL", "(not shown)", "an absolute http or https URL")
	}
	return s
}

// variables reads settings whose errors are not fatal from the environment, and collects the errors. An empty
// variable counts as unset.
type variables struct {
	lookup   Lookup
	problems []error
	notes    []string
}

func (v *variables) value(name string) string {
	value, _ := v.lookup(name)
	return value
}

func (v *variables) refuse(name, value, allowed string) {
	v.problems = append(v.problems, fmt.Errorf("%s=%q: want %s", name, value, allowed))
}

func (v *variables) note(format string, args ...any) {
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
}

func (v *variables) text(name, fallback string) string {
	return cmp.Or(v.value(name), fallback)
}

// lenient returns a number from the environment, else the file's, else the fallback, and notes invalid ones.
func (v *variables) lenient(name string, inFile any, fallback, least, most int) int {
	allowed := "an integer"
	if least > math.MinInt {
		allowed = fmt.Sprintf("an integer from %d to %d", least, most)
	}
	n, ok := inFile.(int64)
	if ok && n >= int64(least) && n <= int64(most) {
		fallback = int(n)
	} else if inFile != nil {
		v.note("the configuration file's value for %s is ignored: want %s", name, allowed)
	}
	value := v.value(name)
	if value == "" {
		return fallback
	}
	given, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil || given < least || given > most {
		v.note("%s=%q is ignored: want %s", name, value, allowed)
		return fallback
	}
	return given
}

// file reads the TOML file that a variable names. Unknown keys are skipped, because the file is shared with the proxy
// that uses this service.
func (v *variables) file(name string) fileSettings {
	var f struct {
		Pruner fileSettings `toml:"mcp_pruner"`
	}
	path := v.value(name)
	if path == "" {
		return f.Pruner
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		v.refuse(name, path, "a readable TOML file")
		return f.Pruner
	}
	// A broken file is ignored, because it may be broken for reasons of the other program. The parser's message is
	// not shown, because it may quote a line that contains a key.
	if err := toml.Unmarshal(raw, &f); err != nil {
		v.note("%s=%q is ignored: it is no TOML, or its mcp_pruner is no table%s", name, path, where(err))
		return fileSettings{}
	}
	return f.Pruner
}

func where(err error) string {
	if parse, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := parse.Position()
		return fmt.Sprintf(" (line %d)", line)
	}
	return ""
}
