// Package takeover moves the MCP servers of a client's configuration behind the gateway, and back.
package takeover

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/takeover/restriction"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// Takeover moves the servers of a client's configuration into the gateway's.
type Takeover struct {
	Client  string // one of Clients
	File    string // path of the client's configuration
	Config  string // path of the gateway's configuration, which receives the servers, unless the client's names another
	Program string // path of this program

	Rules []string // further files with the client's rules of what its tools may do
	Dir   string   // folder with more such files, in folders of their own; "": none

	Unread []string // names of variables that name further files with rules: these are not read, and every server stays

	// Lost returns what each of the servers would lose behind the gateway; servers that lose something stay. nil: nobody
	// is asked, and all move.
	Lost func(servers map[string]any) map[string]string

	losses map[string]string // what Lost returned

	Stale []Rewrite // set by Plan and Install: rules that allow tools of moved servers under their old names
}

// entryName is the name of the gateway's entry in the client's configuration.
const entryName = "gateway"

// Clients are the names of the clients whose configuration can be taken over.
func Clients() []string {
	return agent.Names(agent.With(func(c *agent.Client) bool { return c.Servers.Member != "" && c.Restrictions.Known() }))
}

// Of returns the files that a client's takeover concerns.
func Of(client, program string, lookup func(string) (string, bool)) (Takeover, error) {
	if c := agent.Named(client); c.Servers.Member != "" && !c.Restrictions.Known() {
		return Takeover{}, fmt.Errorf("what %s allows and denies is not read, and behind the gateway its servers could be allowed more: put them in a file by hand (docs/GATEWAY.md)", c.Title)
	}
	if !slices.Contains(Clients(), client) {
		return Takeover{}, fmt.Errorf("unknown client %q: want %s; for others put the servers in a file by hand (docs/GATEWAY.md)",
			client, strings.Join(Clients(), ", "))
	}
	files, err := setup.Home{Lookup: lookup}.Files(client)
	if err != nil {
		return Takeover{}, err
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return Takeover{}, err
	}
	t := Takeover{Client: client, Program: program, File: files.Servers.Path, Config: filepath.Join(config, "mcp-pruner", "gateway-"+client+".json")}
	t.Dir = files.Dir
	for _, name := range agent.Named(client).Restrictions.Files {
		t.Rules = append(t.Rules, filepath.Join(files.Dir, name))
	}
	for _, name := range agent.Named(client).Restrictions.Variables {
		if value, _ := lookup(name); value != "" {
			t.Unread = append(t.Unread, "what the variable "+name+" names")
		}
	}
	return t, nil
}

// client returns what is known of the client.
func (t Takeover) client() *agent.Client { return agent.Named(t.Client) }

// toml reports whether the client's configuration is TOML, in which the text of the entries is kept instead of their data.
func (t Takeover) toml() bool { return t.client().Files.Servers.As == agent.TOML }

// file returns the client's configuration.
func (t Takeover) file() setup.File { return setup.ServersFile(t.Client, t.File) }

// source returns where the client's rules are.
func (t Takeover) source() restriction.Source {
	return restriction.Source{Client: t.Client, File: t.File, Paths: t.Rules, Dir: t.Dir, Unread: t.Unread}
}

// Plan returns the names of the servers that Install would move, and the reasons for those that would stay with the
// client. Servers that were moved earlier stay behind the gateway. It sets Config to the file that receives the servers,
// and Stale.
func (t *Takeover) Plan() (names []string, stay map[string]string, err error) {
	_, moved, err := t.plan()
	return slices.Sorted(maps.Keys(moved.Servers)), moved.stay, err
}

// plan returns the gateway's configuration as it is, and what Install adds to it.
func (t *Takeover) plan() (all, moved kept, err error) {
	text, err := t.file().Read()
	if err != nil {
		return kept{}, kept{}, err
	}
	moved, err = t.moves(text)
	if err == nil && t.Lost != nil && len(moved.Servers) > 0 {
		t.losses = t.Lost(moved.Servers)
		moved, err = t.moves(text)
	}
	if err != nil || len(moved.Servers) == 0 {
		return kept{}, moved, err
	}
	if all, err = t.receiver(text); err != nil {
		return kept{}, kept{}, err
	}
	if err := apart(all, moved); err != nil {
		return kept{}, kept{}, err
	}
	if _, _, err := t.file().Plan(func(text []byte) ([]byte, error) { return t.install(text, moved) }); err != nil {
		return kept{}, kept{}, err
	}
	t.Config, t.Stale = all.path, t.rewrites(moved.stale)
	return all, moved, nil
}

// Install moves the servers into the gateway's configuration. It returns and sets what Plan does.
func (t *Takeover) Install() (names []string, stay map[string]string, err error) {
	all, moved, err := t.plan()
	if err != nil || len(moved.Servers) == 0 {
		return nil, moved.stay, err
	}
	if err := t.keep(all, moved); err != nil { // first, so that no server is lost if the next step fails
		return nil, nil, err
	}
	_, err = t.file().Install(func(text []byte) ([]byte, error) { return t.install(text, moved) })
	return slices.Sorted(maps.Keys(moved.Servers)), moved.stay, err
}

// Rewrite is a rule of the user's that has to be written anew for the tools behind the gateway.
type Rewrite struct {
	Old string
	New string // "": the client's tools are grouped there, so that no rule means the same
}

// rewrites returns how rules are to be written that allow tools of moved servers. A client that searches tools gets each tool
// under a name of its own.
func (t Takeover) rewrites(stale []restriction.Allowance) (list []Rewrite) {
	for _, a := range stale {
		r := Rewrite{Old: a.Rule}
		if a.Tool != "" && t.client().SearchesTools {
			r.New = "mcp__" + entryName + "__" + upstream.ExposedName(a.Server, a.Tool)
		}
		list = append(list, r)
	}
	return list
}

// apart returns an error if the tools of two servers could not be told apart behind the gateway.
func apart(all, moved kept) error {
	together := maps.Clone(all.Servers)
	maps.Copy(together, moved.Servers)
	var servers []upstream.Server
	for _, name := range slices.Sorted(maps.Keys(together)) {
		servers = append(servers, upstream.Server{Name: name})
	}
	return upstream.CheckPrefixes(servers)
}

// stays returns the reason why a server stays with the client, or "".
func (t Takeover) stays(name string, entry map[string]any, rules []restriction.Rule) string {
	if why := restriction.Stays(t.Client, name, entry, rules); why != "" {
		return why
	}
	return t.losses[name]
}

// own reports whether a command starts this program, as the gateway or as the server itself.
func (t Takeover) own(command any) bool {
	if list, ok := command.([]any); ok && len(list) > 0 { // opencode's form
		command = list[0]
	}
	name, _ := command.(string)
	return strings.TrimSuffix(filepath.Base(name), ".exe") == "mcp-pruner" || name == t.Program
}

// moves returns the servers of a client's configuration that a gateway can take over.
func (t Takeover) moves(text []byte) (kept, error) {
	if t.toml() {
		return t.movesTOML(text)
	}
	return t.movesJSON(text)
}

// install returns a client's configuration with the gateway in the place of the moved servers.
func (t Takeover) install(text []byte, moved kept) ([]byte, error) {
	if t.toml() {
		return t.installTOML(text, moved)
	}
	return t.installJSON(text, moved)
}

// Restored says what Uninstall did.
type Restored struct {
	Changed bool   // the servers were put back
	Left    string // why a file of the gateway's was left, with its path; "": none was
}

// Uninstall moves the servers back. It reads the servers from the file that the client's configuration names, and removes
// nothing before it has compared what it puts back with them.
func (t Takeover) Uninstall() (Restored, error) {
	file := t.file()
	text, err := file.Read()
	if err != nil {
		return Restored{}, err
	}
	path, there, err := t.named(text)
	switch {
	case err != nil:
		return Restored{}, err
	case !there:
		return t.nothingThere(text)
	}
	t.Config = path
	k, err := t.read(path)
	if err != nil {
		return Restored{}, t.cannotRestore(err)
	}
	again := func(before []byte) ([]byte, error) {
		different, err := t.compare(before, k)
		if err != nil || different != "" { // servers were moved later: the original file does not have those
			return nil, errors.Join(err, errors.New(different))
		}
		return t.install(before, k)
	}
	var left string
	restore := func(now []byte) ([]byte, error) {
		after, err := t.restore(now, k)
		if err == nil {
			left, err = t.compare(after, k)
		}
		return after, err
	}
	if _, err := file.Uninstall(again, restore); err != nil {
		return Restored{}, t.cannotRestore(err)
	}
	return t.finish(k, left)
}

// restore puts the servers back into a file that was changed since install.
func (t Takeover) restore(text []byte, k kept) ([]byte, error) {
	if t.toml() {
		return t.restoreTOML(text, k)
	}
	return t.restoreJSON(text, k)
}

// finish removes the gateway's file after the servers were put back, unless it has something that the client's lacks.
func (t Takeover) finish(k kept, left string) (Restored, error) {
	if left == "" {
		left = t.edited(k)
	}
	if left != "" {
		return Restored{Changed: true, Left: k.path + " stays: " + left}, nil
	}
	return Restored{Changed: true}, os.Remove(k.path)
}

// nothingThere is Uninstall for a configuration that has no gateway of ours. A file of the gateway's that holds the
// same servers is a leftover of an interrupted run and goes; any other is named.
func (t Takeover) nothingThere(text []byte) (Restored, error) {
	k, err := t.read(t.Config)
	switch {
	case os.IsNotExist(err) && text == nil && fileExists(t.file().Backup()):
		return Restored{}, fmt.Errorf("the file is gone; %s is its content before it was changed", t.file().Backup())
	case os.IsNotExist(err):
		return Restored{}, nil
	case err != nil || !sameFile(k.From, t.File):
		return Restored{}, nil // not ours to judge
	case text == nil:
		return Restored{}, fmt.Errorf("the file is gone; %s has its servers", k.path)
	}
	if !t.leftover(text, k) {
		names := strings.Join(slices.Sorted(maps.Keys(k.Servers)), ", ")
		return Restored{Left: fmt.Sprintf("%s stays: it has servers that were moved from there (%s)", k.path, names)}, nil
	}
	return Restored{}, os.Remove(k.path)
}

// cannotRestore says where the servers are that could not be put back.
func (t Takeover) cannotRestore(err error) error {
	where := "there is no backup of the client's file"
	if backup := t.file().Backup(); fileExists(backup) {
		where = backup + " is the client's file before it was changed"
	}
	return fmt.Errorf("the servers cannot be put back, so nothing was changed: %w; %s", err, where)
}

func fileExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
