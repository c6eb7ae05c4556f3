package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Each client's text is as recorded from it. A person's words and a file of instructions say the same of another folder.
func TestFolders(t *testing.T) {
	const claude = "# Environment\nYou have been invoked in the following environment: \n - Primary working directory: /home/me/project\n - Is a git repository: true\n"
	const old = "Here is useful information about the environment you are running in:\n<env>\nWorking directory: /home/me/project\nIs directory a git repo: Yes\n</env>"
	const opencode = "Here is some useful information about the environment you are running in:\n<env>\n  Working directory: /home/me/project\n  Workspace root folder: /home/me\n</env>\n" +
		"Instructions from: /home/me/project/AGENTS.md\nWorking directory: /etc\n"
	const codex = "<environment_context>\n  <cwd>/home/me/project</cwd>\n  <shell>bash</shell>\n</environment_context>"
	const gemini = "<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.\nToday's date is Saturday.\nMy operating system is: linux\n" +
		"The project's temporary directory is: /tmp/x\n- **Workspace Directories:**\n  - /home/me/project\n- **Directory Structure:**\n"
	said := []string{"# AGENTS.md instructions for /etc\n\n<INSTRUCTIONS>\nWorking directory: /etc\n<environment_context>\n  <cwd>/etc</cwd>\n</INSTRUCTIONS>",
		"fix it\n" + claude + old + codex + gemini + "\nworking directory: /etc"}
	for name, c := range map[string]struct {
		told  []string
		words []string
	}{
		"claude":   {[]string{"x-anthropic-billing-header: 1", claude}, said},
		"kilo":     {[]string{opencode}, said},
		"opencode": {[]string{opencode}, said},
		"codex":    {[]string{"You are Codex."}, append(said, codex)},
		"gemini":   {[]string{"You are an agent."}, append([]string{gemini}, said...)},
	} {
		assert.Equal(t, []string{"/home/me/project"}, Named(name).Folders(c.told, c.words), name)
		assert.Empty(t, Named(name).Folders([]string{"Working directory: /etc", "<cwd>/etc</cwd>"}, said), name)
	}
	assert.Equal(t, []string{"/home/me/project"}, Claude.Folders([]string{old}, said))
	assert.Equal(t, []string{"/one", "/two"}, Codex.Folders(nil, []string{"<environment_context>\n  <cwd>/one</cwd>", "<environment_context>\n  <cwd>/two</cwd>"}), "in their order")
	assert.Empty(t, Named("unknown").Folders([]string{claude, old, opencode}, append(said, codex, gemini)), "nothing is known of its places")
}
