package agent

import (
	"path/filepath"
	"regexp"
	"strings"
)

// Prefix describes the text that a client sends before the first word of its user, and how it is made to send it once, headless, to a
// stand-in for its model's API.
type Prefix struct {
	// Turn are tools of its own, at least one of which is in the request for a model's turn. Helper requests, for a title or
	// as a probe of the API, have none of them.
	Turn []string

	// Start returns how the client is started.
	Start func(o Occurrence) Launch

	// History are the folders, below the client's, in which a session leaves files.
	History []string

	// Listings returns the parts of its texts that list memory files, skills and agents.
	Listings func() []Listing

	ServerTool ServerTool

	Trust *Trust // nil: the client asks nobody which folders it may trust

	// Elsewhere are settings by which an administrator sends the client to another API: no other setting wins over them.
	Elsewhere [][]string

	// Shared are the files and folders in a project that its settings, servers, skills and agents are in for all who work on it.
	Shared []string

	// SwitchesIn is the user's file with the switches; Own is the file of a project that is the user's alone, "" if there is none.
	SwitchesIn Place
	Own        string

	// Switch returns the setting that keeps a thing out of the prefix; nil: there is none.
	Switch func(t Thing) *Switch

	// Nested matches the calls of tools within the code that a model runs; the first group is the tool. Nil: there are none.
	Nested func() *regexp.Regexp

	// Tokens is the size of the prefix in an empty project, of which docs/CONTEXT.md names the version.
	Tokens int

	// Started are the members of its settings that name what it starts beside servers: hooks and plugins.
	Started []string
}

// Thing is a part of the prefix that a client can leave out: a tool, a skill, an agent, or all of a server.
type Thing struct {
	Kind   string // tool, skill, agent or server
	Name   string
	Server string // of a tool
}

// Switch is a setting.
type Switch struct {
	Path  []string `json:"path"`
	List  bool     `json:"list,omitempty"` // Path names a list, and Value is one of its elements
	Value any      `json:"value"`
}

// Trust says where the client notes the folders whose settings it may follow.
type Trust struct {
	File File

	// In reports whether the file's data say that a folder is trusted.
	In func(data map[string]any, folder string) bool
}

// above calls a function for a folder and all that it is in, until one returns true.
func above(folder string, is func(folder string) bool) bool {
	for {
		if is(folder) {
			return true
		}
		outer := filepath.Dir(folder)
		if outer == folder {
			return false
		}
		folder = outer
	}
}

// memberOf returns an object's member that is an object, at a path.
func memberOf(data map[string]any, path ...string) map[string]any {
	for _, name := range path {
		data, _ = data[name].(map[string]any)
	}
	return data
}

// ValueAt returns the value at a path of settings, nil if there is none.
func ValueAt(data map[string]any, path ...string) any {
	return memberOf(data, path[:len(path)-1]...)[path[len(path)-1]]
}

// ServerTool says how the client names the tool of an MCP server: Before, the server, Between, the tool.
type ServerTool struct {
	Before, Between string
	Plain           string // the characters of a server's name that stay; all others become "_"
}

// Name returns a server's name as it is in the names of its tools.
func (s ServerTool) Name(server string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(s.Plain, r) {
			return r
		}
		return '_'
	}, server)
}

// NoKey is the key that a client is given for the stand-in, so that it needs none of the user's.
const NoKey = "mcp-pruner-stand-in"

// Occurrence has the values on which a client's start depends.
type Occurrence struct {
	URL     string   // of the stand-in, without a slash at its end
	Folder  string   // a private folder for the launch's files
	Dir     string   // the client's folder
	Entries []string // what is in it, by name
	Project string   // the folder in which it is started
	Prompt  string   // one word
	Servers []string // the MCP servers that its settings name
	Alone   bool     // none of them may start

	// Settings returns the client's settings in a file, decoded; nil if there are none.
	Settings func(path string) map[string]any

	Get func(variable string) string
}

// Path returns the path of one of the launch's files.
func (o Occurrence) Path(name string) string { return filepath.Join(o.Folder, name) }

// Launch is the command that starts a client.
type Launch struct {
	Args  []string
	Env   map[string]string // variables that are set; "" removes one
	Files map[string]any    // written as JSON into Occurrence.Folder, by name
	Links map[string]string // symbolic links in Occurrence.Folder, by name

	// For is, where the client has a folder of its own for the recorded session, the path that stands in the user's requests, by
	// the path that stands in the recorded one.
	For map[string]string
}

// Listing is a part of a text that lists things of one kind.
type Listing struct {
	Kind   string         // memory, skill, agent, tool, or other for the instructions of servers
	Region *regexp.Regexp // the whole list
	Item   *regexp.Regexp // the beginning of an item; the first group is its name
}

// Regular expressions of several clients.
const (
	listItem  = `(?m)^- ([\w./-]+(?::[\w./-]+)*)(?::\s|\s*$)` // "- NAME: description"
	skillItem = `[ \t]*<skill>\s*<name>\s*([^<]+?)\s*</name>` // in a list of XML
	skillList = `(?s)<available_skills>.*?</available_skills>`
)

// nameChars are the characters of an identifier, and the hyphen.
const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
