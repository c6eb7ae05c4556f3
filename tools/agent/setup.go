package agent

import "regexp"

// Place is one of a client's files.
type Place int

const (
	InHooks    Place = iota // Files.Hooks
	InServers               // Files.Servers
	InSettings              // Files.Settings
	InOwnFile               // a file that has nothing else
)

// ServerList says how the client's file lists MCP servers.
type ServerList struct {
	Member string // the object with the servers by name

	// Entry returns the entry of a server that a client starts; nil for TOML, and if init does not write one.
	Entry func(program string, env map[string]any) map[string]any

	// Rules are files below the client's folder, beside those of an administrator, that may name servers by their command.
	Rules []string
}

// Proxy says how the client is told to send its API calls elsewhere, with a secret in a header.
type Proxy struct {
	In     Place
	URL    []string // path of the address in the file
	Suffix string   // of the address
	Start  []string // events of its hooks, in Files.Hooks, at which the proxy is started, if it does not run; none: it has no such hooks

	HeaderLines []string // path of a text of headers, one a line; or
	Headers     []string // path of an object of headers, whose values may name a file: "{file:PATH}"
	// Neither: the secret is in the address, which is a key of a TOML file, before its first table.

	Also *Beside // what the client needs beside another address; nil: nothing
	Note string  // what the client does without then
}

// Beside is a setting that goes in beside the proxy's address unless the user has one: a variable in the client's settings.
type Beside struct {
	Path   []string
	Value  string
	Unless string // another variable that decides the same
}

// Variable returns its name.
func (b *Beside) Variable() string { return b.Path[len(b.Path)-1] }

// Rule lets the client's model run "PROGRAM recover" with any arguments, and nothing else, without asking.
type Rule struct {
	In      Place
	Own     string   // InOwnFile: the file, a path below the client's folder
	Path    []string // else: where in the file
	List    bool     // Path names a list with the rule as an element; else the rule is a member whose value is "allow"
	Line    func(program string) string
	Pattern *regexp.Regexp // finds such rules; the first group is how the rule starts the program
	Asks    string         // when the client asks before its model runs a command

	// Asked reports whether the client asks at all, by its settings, and what has to be done before a rule can be added; nil:
	// it asks, and one can be added.
	Asked func(get func(path ...string) any) (asks bool, first string)
}
