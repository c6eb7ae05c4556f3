package agent

// Restrictions say where a client's configuration restricts the tools of MCP servers, or selects them by their names.
type Restrictions struct {
	Settings []Setting // in the file with the servers and in Files
	Files    []string  // further files below the client's folder
	Folders  []RuleFolder

	// Unread are patterns of files that may restrict or switch off any server, and are not read: paths below the client's folder,
	// or absolute ones. Variables name such files in the environment.
	Unread, Variables []string

	// Chosen are the paths of lists with the only servers that may be used.
	Chosen [][]string

	// Project is the folder with settings, as in the client's own folder, in each project that its configuration names.
	Project string

	Marks    []string // beside "mcp_", what makes a word in a text the name of a server's tool
	OwnTools []string // names of the client's own tools, which no server's tool has
}

// Known reports whether anything is known of the client's restrictions. Of one without, servers cannot be moved safely.
func (r Restrictions) Known() bool {
	return len(r.Settings)+len(r.Files)+len(r.Folders)+len(r.Chosen) > 0
}

// Setting is one setting with rules.
type Setting struct {
	Path []string // "*" stands for every member
	As   SettingKind
}

// SettingKind is the meaning of a setting.
type SettingKind int

// The kinds of settings.
const (
	Refuses        SettingKind = iota // a list of tools or servers that are refused, or asked about
	RefusesTools                      // the same, of tools as the client writes them: a name may be that of any server's tool
	RefusesServers                    // the same, of servers: objects with a serverName
	AllowsMembers                     // an object by names: those that are not true or "allow" are refused
	Allows                            // a list of tools or servers that are allowed
	RestrictsAll                      // names rules elsewhere, which are not read
)

// RuleFolder is a folder, below the client's or a project's, whose files select tools by name.
type RuleFolder struct{ Name, Suffix string }
