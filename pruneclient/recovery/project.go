package recovery

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// ProjectOf returns the root of the project to which a folder belongs: the nearest folder with an entry .git, which may be
// the folder itself, and the folder itself if there is none. Links are resolved. A folder that is not known is "", and so
// is its project.
func ProjectOf(folder string) string {
	if !filepath.IsAbs(folder) {
		return ""
	}
	folder = resolved(folder)
	for dir := folder; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return folder
		}
	}
}

// projectOfSession returns the project of a session by the folder of an event and the folder that the client calls its
// project, or "". An agent that has changed to a folder inside the client's project is still in that project.
func projectOfSession(folder, clientProject string) string {
	if filepath.IsAbs(clientProject) && within(resolved(folder), resolved(clientProject)) {
		folder = clientProject
	}
	return ProjectOf(folder)
}

// MayBeReadIn reports whether an agent that works in a folder may have the text: the folder belongs to the project whose
// session stored the text, or to a linked worktree of the same repository, or that project is not known.
func (e Entry) MayBeReadIn(folder string) bool {
	switch {
	case e.Project == "":
		return true
	case !filepath.IsAbs(folder):
		return false
	}
	return within(resolved(folder), e.Project) || repositoryOf(ProjectOf(folder)) == repositoryOf(e.Project)
}

// repositoryOf returns the root of the main worktree of a project that is a linked one, and any other project itself. The folder of
// a bare repository stands for a main worktree. The repository must name the worktree, too: a file .git alone could claim to belong to
// any repository.
func repositoryOf(project string) string {
	link := filepath.Join(project, ".git")
	data, named := strings.CutPrefix(firstLine(link), "gitdir: ")
	if !named {
		return project
	}
	data = joined(project, data)
	common := firstLine(filepath.Join(data, "commondir"))
	if back := firstLine(filepath.Join(data, "gitdir")); common == "" || back == "" || resolved(joined(data, back)) != resolved(link) {
		return project // of a submodule, or not the repository's
	}
	common = resolved(joined(data, common))
	if filepath.Dir(resolved(data)) != filepath.Join(common, "worktrees") {
		return project // the folder that names the worktree is not the repository's
	}
	if filepath.Base(common) == ".git" {
		return filepath.Dir(common)
	}
	return common
}

// firstLine returns the first line of a small file, or "".
func firstLine(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4<<10 {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

// joined returns a path that may be relative to a folder.
func joined(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// within reports whether a folder is root or below it. Two names of one folder are equal, as where case does not count.
func within(folder, root string) bool {
	info, err := os.Stat(root)
	for dir := folder; ; dir = filepath.Dir(dir) {
		if dir == root {
			return true
		}
		if here, hereErr := os.Stat(dir); err == nil && hereErr == nil && os.SameFile(here, info) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// resolved returns a folder's path without links. A folder that is not on this machine keeps its name.
func resolved(folder string) string {
	if path, err := filepath.EvalSymlinks(folder); err == nil {
		return path
	}
	return filepath.Clean(folder)
}

// ProjectOfHook returns the project of the session whose client runs this process as a hook. folder is the event's; if the
// event has none, it is this process's.
func ProjectOfHook(folder string, lookup func(string) (string, bool)) string {
	if folder == "" {
		folder, _ = os.Getwd() // without either the project is not known
	}
	for _, c := range agent.Clients {
		if dir, ok := lookup(c.ProjectVariable); ok && c.ProjectVariable != "" && strings.TrimSpace(dir) != "" {
			return projectOfSession(folder, dir)
		}
	}
	return ProjectOf(folder)
}
