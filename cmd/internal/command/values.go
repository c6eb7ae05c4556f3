package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// NoArguments checks that a verb has no arguments.
func NoArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("there is no argument %q", args[0])
	}
	return nil
}

// OneArgument checks that a verb has exactly one argument. The error message calls it name.
func OneArgument(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return Usagef("%s is missing", name)
		case 1:
			return nil
		}
		return Usagef("there is no argument %q: one %s is enough", args[1], name)
	}
}

// choice is the value of a flag that accepts certain words only.
type choice[T ~string] struct {
	to      *T
	allowed []T
}

// Choice makes a flag's value that is one of the allowed words. *to is the default.
//
//	c.Flags().Var(command.Choice(&format, "json", "text"), "log-format", "of the events")
func Choice[T ~string](to *T, allowed ...T) pflag.Value { return &choice[T]{to, allowed} }

func (c *choice[T]) String() string { return string(*c.to) }

func (c *choice[T]) Type() string { return strings.Join(words(c.allowed), "|") }

func (c *choice[T]) Set(value string) error {
	if !slices.Contains(c.allowed, T(value)) {
		return fmt.Errorf("want %s", Or(words(c.allowed)))
	}
	*c.to = T(value)
	return nil
}

func words[T ~string](list []T) []string {
	plain := make([]string, len(list))
	for i, w := range list {
		plain[i] = string(w)
	}
	return plain
}

// Or lists words as English does: "a, b or c".
func Or(list []string) string { return terminal.List(list, "or") }

// share is the value of a flag that accepts a fraction.
type share struct{ to *float64 }

// Share makes a flag's value that is a fraction above 0 and up to 1, given as "0.3"
// or as "30%".
func Share(to *float64) pflag.Value { return share{to} }

func (s share) String() string {
	if *s.to == 0 {
		return ""
	}
	return strconv.FormatFloat(*s.to, 'g', -1, 64)
}

func (share) Type() string { return "SHARE" }

func (s share) Set(value string) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(value), "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		f /= 100
	}
	if err != nil || !(f > 0 && f <= 1) {
		return errors.New("want a share above 0 and up to 1, such as 0.3 or 30%")
	}
	*s.to = f
	return nil
}
