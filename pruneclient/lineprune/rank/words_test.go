package rank

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// One entry of each list of words, by what it is for.
func TestWordsOfTheLists(t *testing.T) {
	for _, question := range []string{"what rejects the upload", "which conflict is there", "what does it complain about"} {
		require.True(t, ParseQuestion(question).Failure, question)
	}
	require.False(t, ParseQuestion("what accepts the upload").Failure)

	for word, synonym := range map[string]string{"limit": "maximum", "remove": "delete", "configuration": "settings"} {
		require.Equal(t, []int32{1}, hitsOf(t, "the "+word, "alpha\n"+synonym+"\nbeta\n"), word)
	}

	asked := ParseQuestion("how do quotas work").Asked()
	for _, talk := range []string{"figure", "investigate", "understand", "determine"} {
		require.Equal(t, asked, ParseQuestion("how do quotas work, I want to "+talk).Asked(), talk)
	}
	require.Greater(t, ParseQuestion("how do quotas work, I want to reimburse").Asked(), asked)
}

// A question asks for all items only by a whole word such as "all" or "which", not by a part of a word.
func TestQuestionsForAll(t *testing.T) {
	for question, want := range map[string]bool{
		"which jobs failed?": true, "list the errors": true, "all errors": true, "who failed": true,
		"why does the whole call to the listener fail to reach the firewall?": false, "errors": false,
	} {
		require.Equal(t, want, ParseQuestion(question).Lists, question)
	}
}
