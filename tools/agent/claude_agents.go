package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// claudeShells are Claude Code's own sub-agents that may run commands.
var claudeShells = []string{"Explore", "Plan", "general-purpose"}

// ClaudeShell reports whether the definition of a sub-agent of Claude Code gives it the tool that runs commands, as far as the session
// around it has that. The definition is in one of the folders; where several bear the name, all have to.
func ClaudeShell(role string, folders ...string) bool {
	found := false
	for _, folder := range folders {
		files, _ := filepath.Glob(filepath.Join(folder, "*.md")) // the pattern is correct unless a folder's name is none
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return false
			}
			head := frontMatter(string(text))
			if !slices.Equal(head["name"], []string{role}) {
				continue
			}
			tools, listed := head["tools"]
			if listed && !slices.ContainsFunc(tools, IsShellTool) || slices.ContainsFunc(head["disallowedTools"], namesShell) {
				return false
			}
			found = true
		}
	}
	return found || slices.Contains(claudeShells, role)
}

// namesShell reports whether a rule is about a tool that runs commands, or about some of its commands.
func namesShell(rule string) bool {
	tool, _, _ := strings.Cut(rule, "(")
	return IsShellTool(tool)
}

// frontMatter returns the values at the top of a definition, each as a list: separated by commas, or one a line after a hyphen.
func frontMatter(text string) map[string][]string {
	head := map[string][]string{}
	text, ok := strings.CutPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "---\n")
	if !ok {
		return head
	}
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n ")
		if line == "---" {
			break
		}
		values, key := strings.TrimSpace(line), !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "-")
		if key {
			name, values, _ = strings.Cut(line, ":")
			head[name] = nil
		}
		for value := range strings.SplitSeq(strings.Trim(strings.TrimPrefix(values, "- "), " []"), ",") {
			if value = strings.Trim(value, ` "'`); value != "" {
				head[name] = append(head[name], value)
			}
		}
	}
	return head
}
