package pruneclient

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

const maxAnswerBytes = 16 << 20

// answerFields are the fields in which services return the pruned text, in order of preference.
var answerFields = [...]string{"pruned_code", "content", "text"}

// readAnswer returns the pruned text of an answer, or an *Error that names the kind of failure without
// quoting the service.
func readAnswer(resp *http.Response) (string, error) {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return "", &Error{HTTPError, fmt.Sprintf("the pruner answered HTTP %d", resp.StatusCode)}
	}
	if resp.StatusCode == http.StatusNoContent {
		return "", &Error{InvalidResponse, "the pruner answered HTTP 204 without a body"}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	switch {
	case len(body) > maxAnswerBytes:
		return "", &Error{InvalidResponse, fmt.Sprintf("the answer is larger than %d MiB", maxAnswerBytes>>20)}
	case err != nil:
		return "", &Error{HTTPError, "the answer ended early"}
	case !utf8.Valid(body):
		return "", &Error{InvalidResponse, "the answer is not UTF-8"}
	}
	text, err := decodeAnswer(body)
	if err != nil {
		return "", &Error{InvalidResponse, err.Error()}
	}
	return text, nil
}

// decodeAnswer returns the text of one JSON object. Fields that are not needed are not decoded (token_scores is ten times the
// text). Its errors are fixed sentences.
func decodeAnswer(body []byte) (string, error) {
	members, err := jsonspan.Members(body)
	switch {
	case err != nil:
		return "", errors.New("the answer is not valid JSON")
	case members == nil:
		return "", errors.New("the answer is not a JSON object")
	}
	for _, name := range answerFields {
		value, _ := jsonspan.Decode(members[name])
		if text, ok := value.(string); ok {
			return text, nil
		}
	}
	return "", errors.New("the answer has none of pruned_code, content and text as a string")
}
