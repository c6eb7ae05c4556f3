package terminal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLastStates(t *testing.T) {
	var curl strings.Builder
	curl.WriteString("  % Total    % Received % Xferd  Average Speed\n")
	for _, row := range []string{"  0     0    0     0 --:--:--", " 12  900k   12  108k  0:00:07", "100  900k  100  900k --:--:--"} {
		curl.WriteString("\r" + row)
	}
	for name, c := range map[string][2]string{
		"git":                   {"Receiving objects:   1% (1/90)\rReceiving objects:  50% (45/90)\rReceiving objects: 100% (90/90), done.\nnext", "Receiving objects: 100% (90/90), done.\nnext"},
		"curl":                  {curl.String(), "  % Total    % Received % Xferd  Average Speed\n100  900k  100  900k --:--:--"},
		"erased, first column":  {"fetching a\x1b[2K\x1b[1Glinking b\x1b[2K\x1b[1GDone in 2s.\n", "Done in 2s.\n"},
		"erased to its end":     {"\r\x1b[Kone\r\x1b[Ktwo\r\x1b[K", "two"},
		"a spinner":             {"⠙\r⠹\r⠸\r⠼", "⠼"},
		"colours stay":          {"\x1b[32mbuilding 1/2\x1b[0m\r\x1b[32mbuilding 2/2\x1b[0m", "\x1b[32mbuilding 2/2\x1b[0m"},
		"padded with spaces":    {"0% [Working]\r            \r50% [Working]\r            \r", "50% [Working]\r"},
		"lines end with CRLF":   {"step 1\rstep 2\r\nstep 3\r\n", "step 2\r\nstep 3\r\n"},
		"only CRLF":             {"one\r\ntwo\r\n", "one\r\ntwo\r\n"},
		"line ends of Mac OS 9": {"package main\rfunc main() {\r\tprintln(1)\r}\r", "package main\rfunc main() {\r\tprintln(1)\r}\r"},
		"a table of numbers":    {"1,20,300\r4,50,600\r7,80,900\r", "1,20,300\r4,50,600\r7,80,900\r"},
		"two parts of a line":   {"name\rvalue", "name\rvalue"},
		"colours alone":         {"\x1b[31mred\x1b[0m\n", "\x1b[31mred\x1b[0m\n"},
		"plain":                 {"one\ntwo", "one\ntwo"},
	} {
		require.Equal(t, c[1], LastStates(c[0]), name)
	}
}

// The number of lines stays, and the last states have no others.
func FuzzLastStates(f *testing.F) {
	f.Add("a 1\ra 2\r\nb\x1b[2K\x1b[1Gc\n")
	f.Add("\x1b\x1b[\x1b[G\r\r\n\xff\r\xfe")
	f.Fuzz(func(t *testing.T, text string) {
		shown := LastStates(text)
		require.Equal(t, strings.Count(text, "\n"), strings.Count(shown, "\n"))
		require.LessOrEqual(t, len(shown), len(text))
		require.Equal(t, shown, LastStates(shown))
	})
}

func TestEscapeSequencesEndSomewhere(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[31mb\x1b[0m":                      "ab",
		"\x1b[":                                  "",
		"\x1b":                                   "",
		"a\x1b(Bb":                               "aBb",
		"\x1b]0;title\abc":                       "bc",
		"\x1b]8;;http://x\x1b\\c\x1b]8;;\x1b\\d": "cd",
		"\x1b]unfinished":                        "",
	} {
		require.Equal(t, want, WithoutEscapes(in), "%q", in)
	}
}
