package rank

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamesOfAQuestion(t *testing.T) {
	for question, want := range map[string][]string{
		"Find the link to Charles Babbage.":                    {"Charles Babbage"},
		"Charles Babbage was born when?":                       {"Charles Babbage"},
		"Click Charles Babbage":                                {"Click Charles Babbage", "Charles Babbage"},
		"What were the sales of Norway?":                       {"Norway"},
		"who is J. R. Smith":                                   {"J. R. Smith"},
		"Let me look. Then stop":                               nil,
		"click uid=45_181 now":                                 {"uid=45_181", "45_181"},
		"the checks of #51770, please":                         {"51770"},
		"where does openLedger set max_retries?":               {"openLedger", "max_retries"},
		"what does 'quota exceeded' mean, and why can't it be": {"quota exceeded"},
		"see `go test ./...` and “never used”":                 {"go test ./...", "never used"},
		"read src/app.ts and a-b-c":                            {"src/app.ts", "a-b-c"},
		"which tests failed and why":                           nil,
		"is it a well-known bug":                               nil,
	} {
		require.Equal(t, want, names(question), question)
	}
	require.Len(t, names(strings.Repeat("a1b ", 3)+"x1 y22 z33 w44 a55 b66 c77 d88 e99 f10 g11 h12 i13 j14 k15"), 12, "at most")
}

// A name stands for whole words, on few lines; of a frequent one only the first line is named.
func TestLinesThatAQuestionNames(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		switch {
		case i == 40:
			b.WriteString("uid=45_181 link Charles Babbage\n")
		case i == 60:
			b.WriteString("job 1517702 done\n")
		case i == 61:
			b.WriteString("job 51770 done\n")
		case i%10 == 3:
			b.WriteString("sent to max_retries\n")
		case i%2 == 0:
			b.WriteString("served_ok again\n")
		default:
			b.WriteString("nothing\n")
		}
	}
	named := func(question string) []int { return FindNamed(b.String(), question, 100) }
	require.Equal(t, []int{40}, named("find Charles Babbage"))
	require.Equal(t, []int{61}, named("is 51770 done"))
	require.Equal(t, []int{3}, named("who reads max_retries"), "ten lines: the first")
	require.Empty(t, named("why served_ok"), "on half of the lines it names nothing")
	require.Equal(t, []int{61, 3}, named("max_retries of 51770"), "the rarest first")
}
