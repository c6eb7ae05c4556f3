package lineprune

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Among many lines printed by one statement, those that differ are kept.
func TestAFloodKeepsWhatIsDifferent(t *testing.T) {
	var statuses, traces, errors strings.Builder
	for i := range 300 {
		status := 502
		if i == 150 {
			status = 401
		}
		fmt.Fprintf(&statuses, "10:00:%02d ERROR payment %d failed: the bank answered status %d\n", i%60, 48000+i, status)
		message := "KeyError: 'resize'"
		if i == 150 {
			message = "PermissionError: [Errno 13] cannot open spool"
		}
		fmt.Fprintf(&traces, "Traceback (most recent call last):\n  File \"/srv/w.py\", line 4, in run\n    step(job)\n  File \"/srv/w.py\", line 9, in step\n    raise\n%s\n", message)
		fmt.Fprintf(&errors, "./main.go:%d:2: undefined: %s\n", i+1, strings.Repeat(string(rune('a'+i%26)), 2+i/26))
	}
	kept, res := keptText(t, statuses.String(), "why do the payments fail?", Options{})
	require.Less(t, len(res.Kept), 20)
	require.True(t, kept["10:00:30 ERROR payment 48150 failed: the bank answered status 401"])

	_, res = keptText(t, traces.String(), "why do the workers crash?", Options{})
	require.Less(t, len(res.Kept), 60)
	require.Subset(t, res.Kept, []int{901, 902, 903, 904, 905, 906}, "the traceback that is another, whole")

	require.True(t, prune(t, errors.String(), "why does the build fail?", Logs, Options{}).Whole(), "each is to be mended")
}

// The size of a gap includes line prefixes and colour codes, because they count toward the budget.
func TestGapsAreMeasuredAsTheyCame(t *testing.T) {
	for name, front := range map[string]string{"front": "job\tStep\t2026-01-02T03:04:05.1234567Z ", "colours": "\x1b[38;2;10;20;30m\x1b[48;2;10;20;30m\x1b[0m"} {
		var b strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, "%scase %d of the parser: fine so far\n%s", front, i, strings.Repeat(front+"\n", 12))
		}
		res := prune(t, b.String(), "why does the parser fail?", Logs, Options{Budget: 0.1, Marker: ShortMarker})
		require.NotEmpty(t, res.Kept, name)
		require.LessOrEqual(t, shareOf(b.String(), res), 0.1, name)
	}
}

// A quoted name counts as a term even if it is a common word of questions.
func TestQuotedWordsCount(t *testing.T) {
	text := program("def location(self):", "\treturn gamma")
	for _, question := range []string{"what does `location()` do?", `where is "location" defined?`} {
		require.False(t, prune(t, text, question, Code, Options{}).Whole(), question)
	}
	require.True(t, prune(t, text, "what is the exact location?", Code, Options{}).Whole())
}

// Short names with a common ending count as different, as other names do.
func TestAFloodOverShortNames(t *testing.T) {
	names := strings.Fields("ivan kian gert kurt nora lara mara cora dora cara lena gina nina tina mina rita dita anita berta marta greta arne bjarne hanne anne")
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "10:00:%02d ERROR failed to sync the mailbox of %s%s: connection reset by peer\n", i%60, names[i%len(names)], names[i/len(names)%len(names)])
	}
	res := prune(t, b.String(), "why does it fail?", Logs, Options{})
	require.NotEmpty(t, res.Kept)
	require.Less(t, len(res.Kept), 20)
}

// Up to 40 alarms are all kept; of more, the first three of a statement and its last one.
func TestHowManyAlarmsStay(t *testing.T) {
	kept := func(alarms int) int {
		var b strings.Builder
		for i := range 400 {
			fmt.Fprintf(&b, "10:00:%02d INFO request %d served\n", i%60, i)
			if i < alarms {
				fmt.Fprintf(&b, "10:00:00 ERROR cannot sync mailbox %d: quota exceeded\n", i)
			}
		}
		b.WriteString("10:01:00 INFO broker listening on port 8080\n")
		res := prune(t, b.String(), "where is the broker listening on port 8080", Logs, Options{})
		require.False(t, res.Whole(), res.Note)
		lines, errors := strings.Split(b.String(), "\n"), 0
		for _, n := range res.Kept {
			if strings.Contains(lines[n-1], " ERROR ") {
				errors++
			}
		}
		return errors
	}
	require.Equal(t, 30, kept(30))
	require.Equal(t, 40, kept(40))
	require.Equal(t, 4, kept(41))
}

// Lines that differ only in a name are one statement's if there are at least 20.
func TestHowManyNamesMakeAFlood(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "10:00:%02d ERROR cannot sync the mailbox of %c%chael: quota exceeded\n", i%60, 'a'+i/26, 'a'+i%26)
	}
	res := prune(t, b.String(), "why does it fail?", Logs, Options{})
	require.False(t, res.Whole(), res.Note)
	require.Less(t, len(res.Kept), 20)
}
