package prunerservice

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"mcp-pruner/pruneclient/deepinfra"
	"mcp-pruner/pruneclient/recovery"
	"mcp-pruner/pruneclient/service"
)

// Settings of the service. Flags win over the environment, the environment over
// the TOML file. The key is read from the environment alone.
type Settings struct {
	Host          string
	Port          int // 0: any free one
	MaxInputChars int
	Recovery      recovery.Settings
	DeepInfra     *deepinfra.Settings // nil: the heuristic alone
	Notes         []string            // what the user should know about the settings
}

// Defaults of Settings.
const (
	defaultHost = "127.0.0.1"
	defaultPort = 8006
)

// fileSettings are what the TOML file may hold, under [mcp_pruner]: a value of the
// wrong type costs nothing but itself.
type fileSettings struct {
	Backend         any `toml:"backend"`
	TimeoutMS       any `toml:"deepinfra_timeout_ms"`
	MaxDocs         any `toml:"deepinfra_max_docs"`
	CacheTTL        any `toml:"cache_ttl_s"`
	CacheMaxEntries any `toml:"cache_max_entries"`
	CacheMaxItems   any `toml:"cache_max_items"`
	Key             any `toml:"deepinfra_api_key"` // only to say that it is ignored
}

// loadSettings reads flags, environment and file. Its errors name the setting,
// its value and what is allowed; flag.ErrHelp means that help was asked for.
func loadSettings(args, env []string, usage io.Writer) (Settings, error) {
	vars := &variables{values: envMap(env)}
	s := Settings{
		Host:          vars.text("MCP_PRUNER_HOST", defaultHost),
		Port:          vars.integer("MCP_PRUNER_PORT", defaultPort, 0, 65535),
		MaxInputChars: vars.integer("MCP_PRUNER_MAX_INPUT_CHARS", service.DefaultMaxInputChars, 1, 1<<30),
		Recovery: recovery.Settings{
			TTL:      vars.seconds("MCP_PRUNER_PRUNE_ID_TTL_S", recovery.DefaultTTL, 1),
			MaxBytes: vars.bytes("MCP_PRUNER_RECOVERY_MAX_BYTES", recovery.DefaultMaxBytes, 1<<20, 1<<32),
			File:     vars.text("MCP_PRUNER_RECOVERY_STORE", ""),
		},
	}
	file := vars.file("MCP_PRUNER_CONFIG")
	if file.Key != nil {
		vars.note("deepinfra_api_key in the configuration file is ignored; set DEEPINFRA_API_KEY")
	}
	if vars.wantsCloud(file.Backend) {
		s.DeepInfra = vars.deepInfra(file)
	}
	s.Notes = vars.notes
	if err := s.flags(args, usage); err != nil {
		return s, err
	}
	if !isLoopback(s.Host) {
		name := "--host"
		if s.Host == vars.values["MCP_PRUNER_HOST"] {
			name = "MCP_PRUNER_HOST"
		}
		vars.refuse(name, s.Host, "a loopback address (127.0.0.1, ::1 or localhost)")
	}
	return s, errors.Join(vars.problems...)
}

func (s *Settings) flags(args []string, usage io.Writer) error {
	f := flag.NewFlagSet("mcp-pruner pruner", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&s.Host, "host", s.Host, "")
	f.Func("port", "", func(value string) (err error) {
		if s.Port, err = strconv.Atoi(value); err != nil || s.Port < 0 || s.Port > 65535 {
			return errors.New("want an integer from 0 to 65535")
		}
		return nil
	})
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, _ = fmt.Fprint(usage, help)
	case err == nil && f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return err
}

// wantsCloud decides the backend: an explicit word in the environment, else the
// file. An unknown word decides nothing, and nothing decided is local.
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

// deepInfra reads the cloud's settings. They fail open as the cloud itself does: a
// number that makes no sense is pointed out, and the next best one is used.
func (v *variables) deepInfra(file fileSettings) *deepinfra.Settings {
	timeout := v.lenient("DEEPINFRA_TIMEOUT_MS", file.TimeoutMS, int(deepinfra.DefaultTimeout/time.Millisecond), 1, 3_600_000)
	ttl := time.Duration(v.lenient("MCP_PRUNER_CACHE_TTL_S", file.CacheTTL, int(deepinfra.DefaultCacheTTL/time.Second), 0, 30*24*3600)) * time.Second
	inFile := file.CacheMaxEntries
	if inFile == nil {
		inFile = file.CacheMaxItems
	}
	items := v.lenient("MCP_PRUNER_CACHE_MAX_ENTRIES", inFile, deepinfra.DefaultCacheMaxItems, 0, 1<<20)
	items = v.lenient("MCP_PRUNER_CACHE_MAX_ITEMS", nil, items, 0, 1<<20) // the name wins over its alias
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

// variables reads the environment and collects what is wrong with it. An empty
// variable counts as unset.
type variables struct {
	values   map[string]string
	problems []error
	notes    []string
}

func envMap(env []string) map[string]string {
	values := make(map[string]string, len(env))
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		values[name] = value
	}
	return values
}

func (v *variables) refuse(name, value, allowed string) {
	v.problems = append(v.problems, fmt.Errorf("%s=%q: want %s", name, value, allowed))
}

func (v *variables) note(format string, args ...any) {
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
}

func (v *variables) text(name, fallback string) string {
	if value := v.values[name]; value != "" {
		return value
	}
	return fallback
}

func (v *variables) integer(name string, fallback, least, most int) int {
	return int(v.bytes(name, int64(fallback), int64(least), int64(most)))
}

// bytes is an integer that may be more than an int holds.
func (v *variables) bytes(name string, fallback, least, most int64) int64 {
	value := v.values[name]
	if value == "" {
		return fallback
	}
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil || n < least || n > most {
		v.refuse(name, value, fmt.Sprintf("an integer from %d to %d", least, most))
		return fallback
	}
	return n
}

// lenient reads a number from the environment, else takes the file's, else the
// fallback, and notes what it could not use.
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
	value := v.values[name]
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

func (v *variables) seconds(name string, fallback time.Duration, least int) time.Duration {
	return time.Duration(v.integer(name, int(fallback/time.Second), least, 30*24*3600)) * time.Second
}

// file reads the TOML file a variable names. Unknown keys belong to somebody
// else: the file is shared with the proxy this service was made for.
func (v *variables) file(name string) fileSettings {
	var f struct {
		Pruner fileSettings `toml:"mcp_pruner"`
	}
	path := v.values[name]
	if path == "" {
		return f.Pruner
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		v.refuse(name, path, "a readable TOML file")
		return f.Pruner
	}
	// The file is somebody else's, too: broken, it is set aside and not fatal. The
	// parser's own message may quote the line, and with it a key.
	if _, err := toml.Decode(string(raw), &f); err != nil {
		v.note("%s=%q is ignored: it is no TOML, or its mcp_pruner is no table%s", name, path, where(err))
		return fileSettings{}
	}
	return f.Pruner
}

func where(err error) string {
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return fmt.Sprintf(" (line %d)", parse.Position.Line)
	}
	return ""
}

func isHTTP(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// isLoopback knows names that cannot lead anywhere else.
func isLoopback(host string) bool {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
