// Package command contains the shared code of all verbs: the process in which a verb runs, its errors with their exit
// codes, and its execution.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// Process is a verb's view of the operating system.
type Process struct {
	Args   []string // without the program's name
	Env    []string // NAME=value; if a name occurs twice, the last value counts
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	// Hurry is closed by the second signal that asks the process to end. A server then stops waiting for its calls.
	// It may be nil.
	Hurry <-chan struct{}
}

// Lookup finds a variable of the process's environment, as os.LookupEnv does.
func (p Process) Lookup(name string) (value string, set bool) {
	for i := len(p.Env) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(p.Env[i], "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// Exit codes.
const (
	OK    = 0
	Fail  = 1 // the work could not be done, or found something wrong
	Usage = 2 // the command line or a setting is wrong
)

// Program is the name that messages and help begin with.
const Program = "mcp-pruner"

// usageError is an error in the command line.
type usageError struct{ error }

// Usagef returns an error in the command line. A hint at the help follows its message, and the exit code is 2.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// IsUsage reports whether an error is one in the command line.
func IsUsage(err error) bool { return errors.As(err, new(usageError)) }

// exit ends a verb that has printed its own messages.
type exit int

// Error implements error.
func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Exit returns an error that ends the verb with an exit code and without a message, because the verb has printed its
// own. Exit(0) is nil.
func Exit(code int) error {
	if code == OK {
		return nil
	}
	return exit(code)
}

// ownEnd marks the verbs that decide themselves when they end after a signal.
const ownEnd = "ends itself"

// EndsItself marks a verb that ends by its own rules after its context is done: a server first answers the calls it
// has. Every other verb is ended by Execute.
func EndsItself(c *cobra.Command) *cobra.Command {
	c.Annotations = map[string]string{ownEnd: "true"}
	return c
}

// endWithin is how long Execute waits for any other verb to return after its context is done.
const endWithin = 100 * time.Millisecond

// Execute runs the command that the process's arguments name, prints its error and returns the exit code.
func Execute(ctx context.Context, root *cobra.Command, p Process) int {
	root.SetArgs(append([]string{}, p.Args...)) // cobra would replace nil by os.Args
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SilenceErrors, root.SilenceUsage = true, true
	checkBuiltIn(root)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	named, _, err := root.Find(p.Args) // before the verb runs, which changes the same flags
	endsItself := err == nil && named.Annotations[ownEnd] != ""
	type ended struct {
		verb *cobra.Command
		err  error
	}
	done := make(chan ended, 1)
	go func() {
		verb, err := root.ExecuteContextC(ctx)
		done <- ended{verb, err}
	}()
	select {
	case e := <-done:
		return report(p.Stderr, e.verb, e.err)
	case <-ctx.Done():
	}
	wait := time.After(endWithin)
	if endsItself {
		wait = nil
	}
	select {
	case e := <-done:
		if e.err == nil || !errors.Is(e.err, ctx.Err()) {
			return report(p.Stderr, e.verb, e.err)
		}
	case <-wait: // the verb is blocked, for example by a read from a terminal
	}
	return signalCode(ctx)
}

// NeedsVerb checks the arguments of a command that only has verbs below it: none was named, or an unknown one.
func NeedsVerb(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("there is no command %q", args[0])
	}
	var verbs []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			verbs = append(verbs, sub.Name())
		}
	}
	return Usagef("%s?", Or(verbs))
}

// Bare makes a command that has verbs below it do what one of them does when none is named. The verb's own name may stand there, too.
func Bare(c, verb *cobra.Command) {
	c.Flags().AddFlagSet(verb.Flags())
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) > 0 && args[0] == verb.Name():
			args = args[1:]
		case len(args) > 0 && verb.Args != nil && verb.Args(c, args) != nil:
			return NeedsVerb(c, args)
		}
		if verb.Args != nil {
			if err := verb.Args(c, args); err != nil {
				return err
			}
		}
		return verb.RunE(c, args)
	}
}

// checkBuiltIn makes cobra's own commands refuse arguments that they do not know.
func checkBuiltIn(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				if _, rest, err := root.Find(args); err != nil || len(rest) > 0 {
					return Usagef("there is no command %q", strings.Join(args, " "))
				}
				return nil
			}
		case "completion":
			c.Args, c.RunE = NeedsVerb, func(*cobra.Command, []string) error { return nil }
			for _, shell := range c.Commands() {
				shell.Args = NoArguments
			}
		}
	}
}

// Verb runs one verb as if the program had no other. Only tests use it.
func Verb(ctx context.Context, verb *cobra.Command, p Process) int {
	root := &cobra.Command{Use: Program}
	root.AddCommand(verb)
	p.Args = append([]string{verb.Name()}, p.Args...)
	return Execute(ctx, root, p)
}

// report prints an error and returns the exit code.
func report(stderr io.Writer, verb *cobra.Command, err error) int {
	var code exit
	var usage usageError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE): // the reader of our output has closed it
		return OK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "%s: %v\nTry '%s --help'.\n", verb.CommandPath(), err, verb.CommandPath())
		return Usage
	}
	fmt.Fprintf(stderr, "%s: %v\n", verb.CommandPath(), err)
	return Fail
}

// signalCode returns the exit code after a signal by the shells' convention: 128 plus the signal's number.
func signalCode(ctx context.Context) int {
	var by Signal
	if !errors.As(context.Cause(ctx), &by) {
		return Fail
	}
	if s, ok := by.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return Fail
}

// Signal is the cause of a context that a signal ended.
type Signal struct{ os.Signal }

// Error implements error.
func (s Signal) Error() string { return "ended by signal: " + s.String() }
