package recovery

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// folders makes folders below a new one and returns their paths without links.
func folders(t *testing.T, names ...string) func(name string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	for _, name := range names {
		require.NoError(t, os.MkdirAll(at(name), 0o700))
	}
	return at
}

func TestProjectOf(t *testing.T) {
	at := folders(t, "repo/.git", "repo/a/b", "repo/module/x", "plain/sub")
	require.NoError(t, os.WriteFile(at("repo/module/.git"), []byte("gitdir: ../.git/modules/module\n"), 0o600)) // as in a submodule or a worktree
	require.NoError(t, os.Symlink(at("repo/a"), at("link")))
	for folder, want := range map[string]string{
		"repo": "repo", "repo/a/b": "repo", "repo/module/x": "repo/module", "plain": "plain", "plain/sub": "plain/sub", "link": "repo", "link/b": "repo",
		"gone/sub": "gone/sub",
	} {
		assert.Equal(t, at(want), ProjectOf(at(folder)), folder)
	}
	assert.Empty(t, ProjectOf(""))
	assert.Empty(t, ProjectOf("relative"))

	hook := func(folder, project string) string {
		return ProjectOfHook(folder, func(name string) (string, bool) { return project, name == "CLAUDE_PROJECT_DIR" && project != "" })
	}
	assert.Equal(t, at("plain"), hook(at("plain/sub"), at("plain")), "an agent that changed its folder is still in the client's project")
	assert.Equal(t, at("repo"), hook(at("repo/module"), at("repo")))
	assert.Equal(t, at("plain/sub"), hook(at("plain/sub"), at("repo")), "the client's project is somewhere else")
	assert.Equal(t, at("plain/sub"), hook(at("plain/sub"), ""))
	here, err := os.Getwd()
	require.NoError(t, err)
	assert.Equal(t, ProjectOf(here), hook("", ""), "without a folder in the event")
}

func TestATextIsReadInItsProject(t *testing.T) {
	at := folders(t, "repo/.git", "repo/a", "repo2/.git", "plain/sub")
	require.NoError(t, os.Symlink(at("repo/a"), at("link")))
	s := ArchiveIn(t.TempDir())
	id, err := s.Put("text", ProjectOf(at("repo/a")), 1)
	require.NoError(t, err)
	for _, folder := range []string{"repo", "repo/a", "link"} {
		_, _, err := s.Get(id, at(folder))
		assert.NoError(t, err, folder)
	}
	for _, folder := range []string{"repo2", "plain", ".", ""} {
		_, _, err := s.Get(id, at(folder))
		assert.Equal(t, ErrElsewhere, err, folder)
	}
	_, _, err = s.Get(id, "")
	assert.Equal(t, ErrElsewhere, err, "a folder that is not known")
	unknown, err := s.Put("text", "", 1)
	require.NoError(t, err)
	_, _, err = s.Get(unknown, at("plain"))
	assert.NoError(t, err, "nobody said whose it is")
}

// Linked worktrees of a repository are one project. A folder that only claims to be one is none.
func TestLinkedWorktreesAreOneProject(t *testing.T) {
	at := folders(t, "repo/.git/worktrees/feature", "repo/.git/modules/sub", "repo/a", "repo/sub", "feature/a", "thief", "other/.git", "bare.git/worktrees/one", "one", "forger/own")
	write := func(path, text string) { require.NoError(t, os.WriteFile(at(path), []byte(text+"\n"), 0o600)) }
	write("feature/.git", "gitdir: "+at("repo/.git/worktrees/feature"))
	write("repo/.git/worktrees/feature/commondir", "../..")
	write("repo/.git/worktrees/feature/gitdir", at("feature/.git"))
	write("thief/.git", "gitdir: "+at("repo/.git/worktrees/feature"))
	write("repo/sub/.git", "gitdir: ../.git/modules/sub")
	write("one/.git", "gitdir: "+at("bare.git/worktrees/one"))
	write("bare.git/worktrees/one/commondir", "../..")
	write("bare.git/worktrees/one/gitdir", at("one/.git"))
	write("forger/.git", "gitdir: "+at("forger/own"))
	write("forger/own/commondir", at("repo/.git"))
	write("forger/own/gitdir", at("forger/.git"))
	s := ArchiveIn(t.TempDir())
	put := func(folder string) string {
		id, err := s.Put("text", ProjectOf(at(folder)), 1)
		require.NoError(t, err)
		return id
	}
	main, feature, sub, one := put("repo/a"), put("feature/a"), put("repo/sub"), put("one")
	for folder, ids := range map[string][]string{
		"repo": {main, feature}, "feature": {main, feature}, "feature/a": {main, feature}, "repo/sub": {main, feature, sub}, "one": {one}, "thief": {}, "forger": {}, "other": {},
	} {
		for _, id := range []string{main, feature, sub, one} {
			text, _, err := s.Get(id, at(folder))
			assert.Equal(t, slices.Contains(ids, id), err == nil, "%s in %s", id, folder)
			if err != nil {
				assert.Empty(t, text)
				assert.Equal(t, ErrElsewhere, err, "the agent is told that it has to run it somewhere else")
				assert.ErrorIs(t, err, ErrNotFound)
			}
		}
	}
	require.NoError(t, os.RemoveAll(at("feature")))
	_, _, err := s.Get(feature, at("repo"))
	assert.NoError(t, err, "the worktree was removed")
}
