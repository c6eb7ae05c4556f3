package runcmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// mixed makes c accept undeclared options, which belong to the client. work gets those options and the
// arguments after "--". Only the first argument can ask for help, because the client has a help option,
// too.
func mixed(c *cobra.Command, work func(client, after []string) error) *cobra.Command {
	c.DisableFlagParsing = true
	c.RunE = func(c *cobra.Command, args []string) error {
		if isHelp(args) {
			return c.Help()
		}
		own, client, after := split(c.Flags(), args)
		if err := c.Flags().Parse(own); err != nil {
			return command.Usagef("%v", err)
		}
		return work(client, after)
	}
	return command.EndsItself(c)
}

// clientFirst makes c accept a client as its first argument. This program's own options may stand before and directly after
// it; everything else is the client's, and so is all after "--".
func clientFirst(c *cobra.Command, clients []string, work func(client string, args []string) error) *cobra.Command {
	otherwise := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		before, rest := leading(c.Flags(), args)
		hasProvider := slices.ContainsFunc(before, func(o string) bool { return strings.HasPrefix(o, "--provider") })
		if hasProvider || len(rest) == 0 || !slices.Contains(clients, rest[0]) {
			return otherwise(c, args)
		}
		after, client := leading(c.Flags(), rest[1:])
		if err := c.Flags().Parse(slices.Concat(before, after)); err != nil {
			return command.Usagef("%v", err)
		}
		if len(client) > 0 && client[0] == "--" {
			client = client[1:]
		}
		return work(rest[0], client)
	}
	return c
}

// leading separates the declared options at the beginning, with their values, from the rest.
func leading(declared *pflag.FlagSet, args []string) (own, rest []string) {
	for i := 0; i < len(args); i++ {
		name, _, attached := strings.Cut(args[i], "=")
		bare, long := strings.CutPrefix(name, "--")
		f := declared.Lookup(bare)
		if !long || f == nil || bare == "help" {
			return args[:i], args[i:]
		}
		if f.NoOptDefVal == "" && !attached {
			i++
		}
	}
	return args, nil
}

func isHelp(args []string) bool { return len(args) > 0 && (args[0] == "-h" || args[0] == "--help") }

// split separates declared options and their values from others, up to "--".
func split(declared *pflag.FlagSet, args []string) (own, others, after []string) {
	if i := slices.Index(args, "--"); i >= 0 {
		args, after = args[:i], args[i+1:]
	}
	for i := 0; i < len(args); i++ {
		name, _, attached := strings.Cut(args[i], "=")
		bare, long := strings.CutPrefix(name, "--")
		f := declared.Lookup(bare)
		if !long || f == nil || bare == "help" {
			others = append(others, args[i])
			continue
		}
		own = append(own, args[i])
		if f.NoOptDefVal == "" && !attached && i+1 < len(args) {
			i++
			own = append(own, args[i])
		}
	}
	return own, others, after
}
