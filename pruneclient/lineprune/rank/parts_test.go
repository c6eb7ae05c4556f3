package rank

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPartsOfAQuestion(t *testing.T) {
	for question, want := range map[string][]string{
		"How does the client retry requests, and where is the upload limit set?": {"How does the client retry requests", "where is the upload limit set?"},
		"Which socket is the listener bound to? Who closes idle connections?":    {"Which socket is the listener bound to", "Who closes idle connections?"},
		"find the retry loop and also explain the backoff table":                 {"find the retry loop", "explain the backoff table"},
		"where are parcels weighed; how is postage computed":                     {"where are parcels weighed", "how is postage computed"},
		"blue client?\nred server?\nfast proxy?\nslow cache?\nempty queue?":      {"blue client", "red server", "fast proxy", "slow cache"},

		"where are parcels weighed and stamped":                  nil, // one thing
		"how does it start and is it safe":                       nil, // neither part names two things
		"what happens to parcels and how is it?":                 nil,
		"where is the retry budget of the uploader kept at all?": nil,
		"": nil,
	} {
		require.Equal(t, want, ParseQuestion(question).Parts(), question)
	}
}
