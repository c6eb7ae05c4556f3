// Package settings holds the table of all settings that the programs read from their environment and flags.
// It validates values and can report the effective value of each setting and its source. docs/CONFIG.md is
// generated from the table.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/deepinfra"
)

// Embedded is the value of PRUNER_URL that prunes in-process.
const Embedded = "embedded"

// Settings of a program. The zero value is not useful: use Load.
type Settings struct {
	PrunerURL         string        // where to prune; Embedded, or "" for off
	PrunerTimeout     time.Duration // for one whole pruner call
	PrunerMaxInflight int           // pruner calls at once
	PrunerThreshold   *float64      // sent along when set

	Root           string // absolute; relative paths start here and no path may leave it
	Result         string // auto, full or text
	NonzeroExit    string // auto, error or output: how a failed command is reported
	BashTimeout    time.Duration
	BashMaxTimeout time.Duration
	InvalidParams  string   // auto, protocol or tool: how invalid arguments are answered
	PassEnv        []string // variables that bash passes on although they would be withheld by default
	AlwaysLoad     bool     // asks Claude to load the tools' schemas at the start
	RepeatRaw      bool     // pruned output is returned whole when it is requested again
	Toolsets       []string // core, text
	OtherTools     []string // other servers' tools whose results are pruned
	Tools          []string // of the core toolset; nil: all

	MaxCalls int // tool calls that run at once

	Trace         string        // file; "" for none
	TraceFull     bool          // also records question, path and command
	TraceMaxBytes int64         // size at which the file is rotated; 0: never
	TraceMaxAge   time.Duration // age at which it is rotated; 0: never
	TraceKeep     int           // number of rotated files that are kept; 0: all
	TraceHeads    string        // where its heads go beside the event log; "": nowhere
	RunID         string        // of the run that started the server

	Store string // where state is kept: sqlite:FILE or postgres://...; "": see the settings below

	RecoveryTTL      time.Duration // how long the original of pruned output can be recovered
	RecoveryMaxBytes int64         // of all originals; the oldest are removed first
	RecoveryStore    string        // file; "" keeps originals in memory
	GCStore          string        // the ledger's file; "": the user's default
	GCKeep           time.Duration // a session not used for longer leaves the ledger; 0: never
	GCMaxBytes       int64         // size above which the sessions not used for longest leave it; 0: no limit

	LogLevel     string // the lowest level printed on standard error
	Metrics      string // address of GET /metrics; "" for none
	MetricsToken string // file with the token that it asks for; "" for none

	// For the servers over HTTP.

	Door
	MaxPruneBytes int // larger output is not sent to a pruner
	MaxInputChars int // of a text for the line pruner's service

	Cloud *deepinfra.Settings // for the line pruner's service; nil: not used
	Notes []string            // warnings for the user about those
}

// Program is a bit set of programs that read settings.
type Program uint

// The programs.
const (
	Stdio  Program = 1 << iota // mcp-pruner
	HTTP                       // mcp-pruner serve
	Pruner                     // mcp-pruner pruner
	Runner                     // mcp-pruner run, config and install
	Proxy                      // mcp-pruner proxy, beside the settings of Stdio

	Servers = Stdio | HTTP | Pruner
)

// Row is one setting. A name that programs interpret differently has one row for each kind of program.
type Row struct {
	Name    string
	For     Program
	Default string
	Allowed string // in words, after "want"
	Meaning string // for docs/CONFIG.md: one or two sentences

	Flag   string // of the verb, without dashes; it wins over the variable
	Shared string // the name that applies if neither flag nor Name is set
	Code   string // the error code for an invalid value in the HTTP design

	After bool // validated after the others, because what is allowed depends on them

	// Take validates a value and stores it in the settings. nil: the program reads the variable itself, and
	// the row only documents it.
	Take func(*Settings, string) bool
}

// Entry is one setting with its effective value.
type Entry struct {
	Name   string
	Value  string
	Source string // "flag", "environment" or "default"
}

// Lookup returns a variable, like os.LookupEnv.
type Lookup func(name string) (string, bool)

// FromEnv returns a Lookup over "NAME=value" strings. Later ones take precedence.
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

// Hook is the variable that turns hooks off: "off".
const Hook = "MCP_PRUNER_HOOK"

// Tell is the variable that turns off what hooks tell the user at the end of a turn: "off".
const Tell = "MCP_PRUNER_TELL"

// OtherTools is the setting that names the other servers and tools whose results are pruned.
const OtherTools = "MCP_PRUNER_OTHER_TOOLS"

// Store is the setting that says where state is kept.
const Store = "MCP_PRUNER_STORE"

// FindOtherTools returns the value of [OtherTools], for verbs that need no other setting.
func FindOtherTools(lookup Lookup) []string {
	v, _ := lookup(OtherTools)
	return list(v)
}

// Load reads and validates every setting of a program. Flags, by name, take precedence over variables. The
// error names each invalid setting, its value and the allowed values.
func Load(program Program, flags map[string]string, lookup Lookup) (Settings, []Entry, error) {
	var s Settings
	var entries []Entry
	var problems []error
	shadowed := make(map[string]bool)
	for _, r := range Rows(program) {
		entry, spelled := r.find(flags, lookup)
		if shadowed[r.Name] || r.Take == nil || entry == nil {
			continue
		}
		shadowed[r.Shared] = true
		if !r.Take(&s, entry.Value) {
			problems = append(problems, fmt.Errorf("%s%s=%q: want %s", r.prefix(), spelled, Shown(entry.Value), r.Allowed))
		}
		entry.Value = Shown(entry.Value)
		entries = append(entries, *entry)
	}
	return s, entries, errors.Join(problems...)
}

// Rows returns the settings of a program. A row with a Shared name comes before the row of that name.
func Rows(program Program) []Row {
	rows := slices.DeleteFunc(table(), func(r Row) bool { return r.For&program == 0 })
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(order(a), order(b)) })
	return rows
}

func order(r Row) int {
	if r.After {
		return 2
	}
	if r.Shared != "" || r.Flag != "" {
		return 0
	}
	return 1
}

// find returns the effective value and its spelling. It returns nil if only the shared name is set, since
// then the row of that name applies.
func (r Row) find(flags map[string]string, lookup Lookup) (e *Entry, spelled string) {
	if v, given := flags[r.Flag]; given && r.Flag != "" {
		return &Entry{r.Name, v, "flag"}, "--" + r.Flag
	}
	if v, set := lookup(r.Name); v != "" || set && r.Name == "PRUNER_URL" { // an empty PRUNER_URL means off
		return &Entry{r.Name, v, "environment"}, r.Name
	}
	if r.Shared != "" {
		if v, _ := lookup(r.Shared); v != "" {
			return nil, ""
		}
	}
	return &Entry{r.Name, r.Default, "default"}, r.Name
}

func (r Row) prefix() string {
	if r.Code == "" {
		return ""
	}
	return r.Code + ": "
}

// credentials matches the part before the host of a URL, even of an invalid one.
var credentials = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^[a-zA-Z][a-zA-Z0-9+.-]*://)?[^/@\s]*:[^@\s]*(@[^@/\s]*)*@`)
})

// filePath matches the start of a path, in which an "@" has no meaning.
var filePath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(/[^/]|\.\.?/|~/|[a-zA-Z]:\\)`) })

// Shown returns a value with its password replaced. Paths stay.
func Shown(value string) string {
	if filePath().MatchString(value) {
		return value
	}
	return password().ReplaceAllString(credentials().ReplaceAllString(value, "${1}xxxxx@"), "${1}xxxxx")
}

// password matches a password among the words of a database's name.
var password = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(password=)[^&\s]*`) })
