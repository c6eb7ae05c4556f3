package rank

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatQuestionsWant(t *testing.T) {
	for question, want := range map[string]answerKind{
		"give me an overview of this file":                         WantOutline,
		"What does this file do?":                                  WantOutline,
		"summarize this module":                                    WantOutline,
		"list all functions":                                       WantOutline,
		"what is this document about":                              WantOutline,
		"are there any bugs":                                       WantJudged,
		"is this code correct?":                                    WantJudged,
		"review this file":                                         WantJudged,
		"how many orders came from JP":                             WantComputed,
		"which order has the highest amount":                       WantComputed,
		"what is the average latency per region":                   WantComputed,
		"list all customers in France":                             WantExtent,
		"overview of the websocket handshake":                      WantPassage,
		"where is the retry limit configured":                      WantPassage,
		"what does order 4711 contain":                             WantPassage,
		"why did the tests fail":                                   WantPassage,
		"where is the code that reviews pull requests for malware": WantPassage,
	} {
		require.Equal(t, want, WantOf(ParseQuestion(question)), question)
	}
}
