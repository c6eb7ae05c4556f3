package agent

// Files says where a client's files are.
type Files struct {
	Folder Folder // of its settings

	Hooks   File // settings with its hooks; of a client with plugins: our plugin; none: it has no hooks that are known
	Servers File // settings with its MCP servers

	Settings File // its other settings; none: they are in one of the two, or not known

	// Project is the name of the file in which a project lists servers; "" if there is none.
	Project string

	// InProject are the client's settings in a project's folder.
	InProject []string

	// Managed returns the paths of an administrator's settings. system is a name as in runtime.GOOS; get returns a variable.
	Managed func(system string, get func(string) string) []string
}

// Folder is a folder of the user.
type Folder struct {
	Variable string            // its name stands in this variable of the environment
	Default  string            // below the home folder, if the variable is not set
	On       map[string]string // the same on other systems, by their names as in runtime.GOOS
	Below    string            // a folder below either
}

// File is a file in the client's folder.
type File struct {
	Name string   // path below the folder, "/" between its parts
	Or   []string // the first of these that exists is the file, in place of Name
	In   *Folder  // another folder than that of the settings
	As   Format
}

// Format is the syntax in which a client reads one of its files. What the clients accept was found by running them; docs/decisions has the
// versions.
type Format int

const (
	AnyText       Format = iota
	StrictJSON           // without comments and trailing commas
	HooksJSON            // strict JSON in UTF-8 without repeated members, and with no members but "hooks" and "description"
	CommentedJSON        // with comments, without trailing commas
	JSONC                // with comments and trailing commas
	TOML
)
