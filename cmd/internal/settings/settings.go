// Package settings is the one table of what the programs read from their environment
// and flags. It checks values, and can say of each setting what is in force and where
// it came from. docs/CONFIG.md is generated from it.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"mcp-pruner/pruneclient/deepinfra"
)

// Embedded is the value of PRUNER_URL that prunes in-process.
const Embedded = "embedded"

// Settings of a program. The zero value is not useful: use Load.
type Settings struct {
	PrunerURL         string        // where to prune; Embedded, or "" for off
	PrunerTimeout     time.Duration // for one whole pruner call
	PrunerMaxInflight int           // pruner calls at once
	PrunerThreshold   *float64      // sent along when set

	Root           string // absolute; what paths are relative to and may not leave
	Result         string // auto, full or text
	NonzeroExit    string // auto, error or output: what a failing command is
	BashTimeout    time.Duration
	BashMaxTimeout time.Duration
	InvalidParams  string   // auto, protocol or tool: how a bad argument is answered
	PassEnv        []string // variables that bash passes on although they are withheld
	AlwaysLoad     bool     // asks Claude to show the tools to its model up front
	RepeatRaw      bool     // what was pruned comes whole when it is asked for again
	Toolsets       []string // core, text
	Tools          []string // of the core toolset; nil: all

	MaxCalls int // tool calls at work at once

	Trace         string        // file; "" for none
	TraceFull     bool          // also question, path and command
	TraceMaxBytes int64         // put aside above; 0: never
	TraceMaxAge   time.Duration // and when older; 0: never
	TraceKeep     int           // files put aside that are kept; 0: all
	RunID         string        // of the run that started the server

	RecoveryTTL      time.Duration // for which the original of pruned output can be had again
	RecoveryMaxBytes int64         // of originals; the oldest go first
	RecoveryStore    string        // file; "" keeps originals in memory
	GCStore          string        // the ledger's file; "" is the user's

	LogLevel string // the least on standard error
	Metrics  string // address of GET /metrics; "" for none

	// Of the servers over HTTP.

	Host          string // a loopback address
	Port          int    // 0: any free one
	MaxPruneBytes int    // larger output is not sent to a pruner
	MaxInputChars int    // of a text that the line pruner's service prunes

	Cloud *deepinfra.Settings // of the line pruner's service; nil: none is asked
	Notes []string            // what the user should know about those

	TokenFile string // holds the bearer token that requests must carry; "": none
}

// Program is a set of programs that read settings.
type Program uint

// The programs.
const (
	Stdio  Program = 1 << iota // mcp-pruner
	HTTP                       // mcp-pruner serve
	Pruner                     // mcp-pruner pruner
	Runner                     // mcp-pruner run, config and install

	Servers = Stdio | HTTP | Pruner
)

// Row is one setting. Of a name that programs understand differently there is one
// row for each kind of program.
type Row struct {
	Name    string
	For     Program
	Default string
	Allowed string // in words, after "want"
	Meaning string // for docs/CONFIG.md: one or two sentences

	Flag   string // of the verb, without dashes; it wins over the variable
	Shared string // the name that holds when neither flag nor Name is set
	Code   string // the HTTP design's code for a bad value

	// Take checks a value and puts it into the settings. Nil: the program reads the
	// variable itself, and the row documents it.
	Take func(*Settings, string) bool
}

// Entry is one setting as it is in force.
type Entry struct {
	Name   string
	Value  string
	Source string // "flag", "environment" or "default"
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

// Load reads and checks every setting of a program. Flags, by name, win over
// variables. The error names each bad setting, its value and what is allowed.
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

// Rows lists the settings of a program. A row that shares its meaning with another
// name comes before the row of that name.
func Rows(program Program) []Row {
	rows := slices.DeleteFunc(table(), func(r Row) bool { return r.For&program == 0 })
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(order(a), order(b)) })
	return rows
}

func order(r Row) int {
	if r.Shared != "" || r.Flag != "" {
		return 0
	}
	return 1
}

// find returns the value in force and how it is spelled. It is nil where only the
// shared name is set: then the row of that name holds.
func (r Row) find(flags map[string]string, lookup Lookup) (e *Entry, spelled string) {
	if v, given := flags[r.Flag]; given && r.Flag != "" {
		return &Entry{r.Name, v, "flag"}, "--" + r.Flag
	}
	if v, set := lookup(r.Name); v != "" || set && r.Name == "PRUNER_URL" { // empty means off there
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

// credentials is what may stand before the host of a URL, however broken the
// rest of it is.
var credentials = regexp.MustCompile(`(^[a-zA-Z][a-zA-Z0-9+.-]*://)?[^/@\s]*:[^@\s]*(@[^@/\s]*)*@`)

// Shown hides a password in a value.
func Shown(value string) string { return credentials.ReplaceAllString(value, "${1}xxxxx@") }
