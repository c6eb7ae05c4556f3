package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// execute runs a program of one verb, which does what it is told.
func execute(t *testing.T, ctx context.Context, work func() error, args ...string) (code int, stderr string) {
	t.Helper()
	var out bytes.Buffer
	verb := &cobra.Command{Use: "eat", Args: NoArguments, RunE: func(*cobra.Command, []string) error { return work() }}
	code = Verb(ctx, verb, Process{Args: args, Stdout: io.Discard, Stderr: &out})
	return code, out.String()
}

func TestErrorsHaveTheirCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		said string
	}{
		{nil, OK, ""},
		{errors.New("no space"), Fail, "mcp-pruner eat: no space\n"},
		{Usagef("--x=%d is too much", 5), Usage, "mcp-pruner eat: --x=5 is too much\nTry 'mcp-pruner eat --help'.\n"},
		{Exit(7), 7, ""},
		{Exit(0), OK, ""},
		{fmt.Errorf("write: %w", syscall.EPIPE), OK, ""}, // "| head" has read enough
	} {
		code, said := execute(t, t.Context(), func() error { return c.err })
		assert.Equal(t, c.code, code, c.err)
		assert.Equal(t, c.said, said)
	}
}

func TestUnknownFlagsAndArgumentsAreUsageErrors(t *testing.T) {
	fail := func() error { panic("the verb ran") }
	code, said := execute(t, t.Context(), fail, "--frobnicate")
	assert.Equal(t, Usage, code)
	assert.Equal(t, "mcp-pruner eat: unknown flag: --frobnicate\nTry 'mcp-pruner eat --help'.\n", said)
	code, said = execute(t, t.Context(), fail, "more")
	assert.Equal(t, Usage, code)
	assert.Equal(t, "mcp-pruner eat: there is no argument \"more\"\nTry 'mcp-pruner eat --help'.\n", said)
}

// A verb that reads from something without an end is ended for it.
func TestAVerbThatNeverEndsIsEnded(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	started, never := make(chan struct{}), make(chan struct{})
	defer close(never)
	go func() {
		<-started
		cancel(Signal{syscall.SIGINT})
	}()
	code, said := execute(t, ctx, func() error {
		close(started)
		<-never
		return nil
	})
	assert.Equal(t, 130, code)
	assert.Empty(t, said)
}

func TestShares(t *testing.T) {
	for given, want := range map[string]float64{"0.3": 0.3, "30%": 0.3, "1": 1, "100 %": 1} {
		var f float64
		require.NoError(t, Share(&f).Set(given))
		assert.InDelta(t, want, f, 1e-9)
	}
	for _, given := range []string{"0", "1.1", "130%", "NaN", "-1", "x", "", "%"} {
		require.Error(t, Share(new(float64)).Set(given), given)
	}
}

func TestChoices(t *testing.T) {
	format := "json"
	value := Choice(&format, "json", "text", "csv")
	require.NoError(t, value.Set("text"))
	assert.Equal(t, "text", format)
	require.EqualError(t, value.Set("xml"), "want json, text or csv")
	assert.Equal(t, "text", format)
}
