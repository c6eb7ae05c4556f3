// Package settings reads the server's settings from the environment, checks
// them, and can say of each what is in force and where it came from.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Embedded is the value of PRUNER_URL that prunes in-process.
const Embedded = "embedded"

// Settings of the server. The zero value is not useful: use Load.
type Settings struct {
	PrunerURL         string        // where to prune; Embedded, or "" for off
	PrunerTimeout     time.Duration // for one whole pruner call
	PrunerMaxInflight int           // pruner calls at once
	PrunerThreshold   *float64      // sent along when set

	Root            string   // absolute; what paths are relative to and may not leave
	Result          string   // auto, full or text
	NonzeroAsOutput bool     // a failing command is a result and may be pruned
	PassEnv         []string // variables that bash passes on although they are withheld
	AlwaysLoad      bool     // asks Claude to show the tools to its model up front
	RepeatRaw       bool     // what was pruned comes whole when it is asked for again
	Toolsets        []string // core, text
	Tools           []string // of the core toolset; nil: all

	MaxCalls int // tool calls at work at once

	Trace         string // file; "" for none
	TraceFull     bool   // also question, path and command
	TraceMaxBytes int64  // rotate above; 0: never

	RecoveryTTL      time.Duration // for which the original of pruned output can be had again
	RecoveryMaxBytes int64         // of originals; the oldest go first
	RecoveryStore    string        // file; "" keeps originals in memory

	LogLevel string // the least on standard error
}

// Entry is one setting as it is in force.
type Entry struct {
	Name   string
	Value  string
	Source string // "environment" or "default"
}

// definition is one setting: its name, what it is when unset, what is allowed
// in words, and how a value is taken over.
type definition struct {
	name, fallback, allowed string
	take                    func(*Settings, string) bool
}

// Lookup finds a variable, as os.LookupEnv does.
type Lookup func(name string) (string, bool)

// FromEnv makes a Lookup of "NAME=value" strings; later ones win.
func FromEnv(env []string) Lookup {
	values := make(map[string]string, len(env))
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		values[name] = value
	}
	return func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	}
}

// Load reads and checks every setting. The error names each bad variable, its
// value and what is allowed.
func Load(lookup Lookup) (Settings, []Entry, error) {
	var s Settings
	var entries []Entry
	var problems []error
	for _, d := range definitions() {
		entry := d.entry(lookup)
		if !d.take(&s, entry.Value) {
			problems = append(problems, fmt.Errorf("%s=%q: want %s", d.name, Shown(entry.Value), d.allowed))
		}
		entry.Value = Shown(entry.Value)
		entries = append(entries, entry)
	}
	return s, entries, errors.Join(problems...)
}

// entry finds a setting's value. An empty variable counts as unset, but for
// PRUNER_URL, where it means off.
func (d definition) entry(lookup Lookup) Entry {
	value, set := lookup(d.name)
	if !set || value == "" && d.name != "PRUNER_URL" {
		return Entry{Name: d.name, Value: d.fallback, Source: "default"}
	}
	return Entry{Name: d.name, Value: value, Source: "environment"}
}

// credentials is what may stand before the host of a URL, however broken the
// rest of it is.
var credentials = regexp.MustCompile(`(^[a-zA-Z][a-zA-Z0-9+.-]*://)?[^/@\s]*:[^@\s]*(@[^@/\s]*)*@`)

// Shown hides a password in a value.
func Shown(value string) string { return credentials.ReplaceAllString(value, "${1}xxxxx@") }

func definitions() []definition {
	return []definition{
		{"PRUNER_URL", "http://localhost:8000/prune", `an http or https URL, "embedded", or empty to turn pruning off`, takePrunerURL},
		{"PRUNER_TIMEOUT_MS", "30000", "an integer from 100 to 300000", func(s *Settings, v string) bool {
			ms, ok := integer(v, 100, 300_000)
			s.PrunerTimeout = time.Duration(ms) * time.Millisecond
			return ok
		}},
		{"PRUNER_MAX_INFLIGHT", "2", "an integer from 1 to 256", func(s *Settings, v string) (ok bool) {
			s.PrunerMaxInflight, ok = integer(v, 1, 256)
			return ok
		}},
		{"PRUNER_THRESHOLD", "", "a number from 0 to 1", takeThreshold},
		{"MCP_PRUNER_CWD", ".", "an existing directory", takeRoot},
		{"MCP_PRUNER_RESULT", "auto", "auto, full or text", func(s *Settings, v string) bool {
			s.Result = v
			return slices.Contains([]string{"auto", "full", "text"}, v)
		}},
		{"MCP_PRUNER_NONZERO_EXIT", "error", "error or output", func(s *Settings, v string) bool {
			s.NonzeroAsOutput = v == "output"
			return v == "output" || v == "error"
		}},
		{"MCP_PRUNER_PASS_ENV", "", "names separated by commas", func(s *Settings, v string) bool {
			s.PassEnv = list(v)
			return true
		}},
		{"MCP_PRUNER_TOOLSETS", "core", "names out of core, text separated by commas", func(s *Settings, v string) bool {
			s.Toolsets = list(v)
			return within(s.Toolsets, "core", "text")
		}},
		{"MCP_PRUNER_TOOLS", "", "names out of read, bash, grep separated by commas", func(s *Settings, v string) bool {
			s.Tools = list(v)
			return v == "" || within(s.Tools, "read", "bash", "grep")
		}},
		{"MCP_PRUNER_ALWAYS_LOAD", "true", "true or false", boolean(func(s *Settings) *bool { return &s.AlwaysLoad })},
		{"MCP_PRUNER_REPEAT_RAW", "false", "true or false", boolean(func(s *Settings) *bool { return &s.RepeatRaw })},
		{"MCP_PRUNER_MAX_CALLS", "64", "an integer from 16 to 4096", func(s *Settings, v string) (ok bool) {
			s.MaxCalls, ok = integer(v, 16, 4096)
			return ok
		}},
		{"MCP_PRUNER_PRUNE_ID_TTL_S", "600", "an integer from 1 to 86400", func(s *Settings, v string) bool {
			sec, ok := integer(v, 1, 86400)
			s.RecoveryTTL = time.Duration(sec) * time.Second
			return ok
		}},
		{"MCP_PRUNER_RECOVERY_MAX_BYTES", "67108864", "an integer from 1048576 to 4294967296", func(s *Settings, v string) (ok bool) {
			s.RecoveryMaxBytes, ok = integer[int64](v, 1<<20, 1<<32)
			return ok
		}},
		{"MCP_PRUNER_RECOVERY_STORE", "", "a file path", func(s *Settings, v string) bool {
			s.RecoveryStore = v
			return true
		}},
		{"MCP_PRUNER_TRACE", "", "a file path", func(s *Settings, v string) bool {
			s.Trace = v
			return true
		}},
		{"MCP_PRUNER_TRACE_DETAIL", "metadata", "metadata or full", func(s *Settings, v string) bool {
			s.TraceFull = v == "full"
			return v == "metadata" || v == "full"
		}},
		{"MCP_PRUNER_TRACE_MAX_BYTES", "0", "an integer from 0 to 1099511627776", func(s *Settings, v string) (ok bool) {
			s.TraceMaxBytes, ok = integer[int64](v, 0, 1<<40)
			return ok
		}},
		{"MCP_PRUNER_LOG_LEVEL", "debug", "debug, info, warn or error", func(s *Settings, v string) bool {
			s.LogLevel = v
			return slices.Contains([]string{"debug", "info", "warn", "error"}, v)
		}},
	}
}

func takePrunerURL(s *Settings, v string) bool {
	s.PrunerURL = v
	if v == "" || v == Embedded {
		return true
	}
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return false
	}
	_, ok := integer(cmp.Or(u.Port(), "80"), 1, 65535)
	return ok
}

func takeThreshold(s *Settings, v string) bool {
	if v == "" {
		return true
	}
	f, err := strconv.ParseFloat(v, 64)
	s.PrunerThreshold = &f
	return err == nil && f >= 0 && f <= 1
}

func takeRoot(s *Settings, v string) bool {
	abs, err := filepath.Abs(v)
	if err != nil {
		return false
	}
	s.Root = abs
	info, err := os.Stat(abs)
	return err == nil && info.IsDir()
}

func boolean(field func(*Settings) *bool) func(*Settings, string) bool {
	return func(s *Settings, v string) bool {
		on := []string{"true", "1", "yes", "on"}
		off := []string{"false", "0", "no", "off"}
		*field(s) = slices.Contains(on, v)
		return *field(s) || slices.Contains(off, v)
	}
}

func integer[N int | int64](v string, least, most N) (N, bool) {
	n, err := strconv.ParseInt(v, 10, 64)
	return N(n), err == nil && n >= int64(least) && n <= int64(most)
}

func list(v string) []string {
	var items []string
	for _, item := range strings.Split(v, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// within says whether every item is allowed, and that there is one.
func within(items []string, allowed ...string) bool {
	if len(items) == 0 {
		return false
	}
	for _, item := range items {
		if !slices.Contains(allowed, item) {
			return false
		}
	}
	return true
}
