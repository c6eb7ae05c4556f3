// Package agent describes the clients of mcp-pruner: coding agents such as Claude Code and Codex. Each client is one value
// with all that is known of it, in a file of its own; what differs between clients is asked here and nowhere else. For the
// sources see docs/decisions and docs/clients.
package agent

// Client is all that the program knows of one client.
type Client struct {
	// Name is the client's name in commands and settings, such as "claude".
	Name string

	// Title is its name in messages, such as "Claude Code".
	Title string

	// Announces is the name that it gives as clientInfo.name, or its beginning if it ends with "-"; "" if it is not known.
	Announces string

	Files   Files
	Results Results
	Shells  Shells // on Windows; elsewhere all of them are POSIX

	// LoginShell: elsewhere its model's commands run in a login shell. /etc/profile may set PATH anew there, and ~/.bashrc is not read,
	// so that the PATH from which the client was started does not count.
	LoginShell bool

	Transcripts Transcripts

	Hooks   *Hooks // nil: it has none that are known, and init cannot set it up
	Servers ServerList
	Proxy   *Proxy  // nil: not known
	Base    *Base   // nil: a run cannot send its API calls elsewhere
	Rule    *Rule   // nil: not known
	Prefix  *Prefix // nil: not known

	// RemovesServer is the client's own command that takes a server out, before the server's name; nil: it has none. Earlier versions of
	// this program added one with its counterpart.
	RemovesServer []string

	Workplace *Workplace // nil: it says nowhere in which folder it works, or that is not known

	Definitions []Definitions // of its own tools, oldest version first; none if they were not measured

	// SearchesTools: it shows its model only the names of tools and lets it search for the rest. docs/GATEWAY.md lists the
	// versions that were measured.
	SearchesTools bool

	// ModelIn is the key of a call's _meta that has, as an object or as a text of JSON, a member "model"; "" if there is none.
	ModelIn string

	// ModelList are the arguments with which its program prints its models; nil: each of them calls tools in the same way. UsedModel
	// returns by that list, and by the files in its folder, the model that it uses unless a run says otherwise.
	ModelList []string
	UsedModel func(list []byte, read func(file string) map[string]any) (Model, error)

	// StatusLine is where its settings have the command of its status line; nil: it has none.
	StatusLine []string

	// SessionVariable names, in the environment of the commands that the client runs, the id of the session; "": not known.
	SessionVariable string

	// ProjectVariable names, in the environment of hooks, the folder that the client calls the project.
	ProjectVariable string

	// Secrets are the names of variables, or their beginnings if they end with "_", that hold the client's own secrets.
	// Commands that its model runs do not see them.
	Secrets []string
}
