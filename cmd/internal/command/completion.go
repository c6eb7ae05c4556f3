package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Completions tells shells what they can complete for a verb and those below it: the words that its usage line and its
// flags choose from, and files only where the usage line names one.
func Completions(c *cobra.Command) {
	for _, sub := range c.Commands() {
		Completions(sub)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if kind := f.Value.Type(); strings.Contains(kind, "|") {
			CompleteFlag(c, f.Name, strings.Split(kind, "|")...)
		}
	})
	c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if c.DisableFlagParsing {
			if words := flagWords(c, args, typed); len(words) > 0 {
				return words, cobra.ShellCompDirectiveNoFileComp
			}
		}
		if len(args) == 0 {
			if words := firstWords(c.Use); len(words) > 0 {
				return words, cobra.ShellCompDirectiveNoFileComp
			}
		}
		if takesFiles(c.Use) {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteFlag tells shells the words that a flag chooses from.
func CompleteFlag(c *cobra.Command, flag string, words ...string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the verb has no such flag, or it was given words twice
	}
}

// flagWords completes the value of a flag of a verb that passes the flags it does not know on. For such a verb cobra
// completes names of flags only.
func flagWords(c *cobra.Command, args []string, typed string) []cobra.Completion {
	if len(args) == 0 {
		return nil
	}
	complete, ok := c.GetFlagCompletionFunc(strings.TrimPrefix(args[len(args)-1], "--"))
	if !ok {
		return nil
	}
	words, _ := complete(c, args, typed)
	return words
}

// firstWords are the words of which a usage line wants one as the first argument: "init claude|codex".
func firstWords(usage string) []string {
	fields := strings.Fields(usage)
	for i, field := range fields {
		field = strings.TrimSuffix(field, "...")
		optional := i == 1 && strings.HasPrefix(field, "[") && strings.HasSuffix(field, "]") // "init [claude|codex]..."
		if strings.Contains(field, "|") && (optional || !strings.HasPrefix(field, "[")) && i > 0 && !strings.HasPrefix(fields[i-1], "--") {
			return strings.Split(strings.Trim(field, "[]"), "|")
		}
	}
	return nil
}

func takesFiles(usage string) bool {
	return slices.ContainsFunc([]string{"FILE", "PATH", "CONFIG"}, func(name string) bool { return strings.Contains(usage, name) })
}
