package web

import (
	"encoding/json"
	"fmt"
	"strings"
)

const maxSubjectTokens = 4 << 20 // bytes: ten thousand subjects with a few tokens each

// SubjectTokens is the path of an operator's file with the tokens that upstream servers want from each subject:
// {"SUBJECT": {"NAME": "TOKEN"}}. The subject "" is the owner of the machine. The file is read whenever a token is needed, so that
// changes count.
type SubjectTokens string

// Check returns why the file cannot be used.
func (f SubjectTokens) Check() error {
	_, err := f.read()
	return err
}

// Token returns a token of a subject. Its errors say what is missing and contain no token.
func (f SubjectTokens) Token(subject, name string) (string, error) {
	all, err := f.read()
	if err != nil {
		return "", err
	}
	token, known := all[subject][name]
	switch {
	case known && token != "" && !strings.ContainsAny(token, "\x00\r\n"):
		return token, nil
	case known:
		return "", fmt.Errorf("the token %q of the subject %q is empty or has a line break", name, subject)
	}
	return "", fmt.Errorf("there is no token %q for the subject %q; ask whoever runs the gateway for one", name, subject)
}

func (f SubjectTokens) read() (all map[string]map[string]string, err error) {
	raw, err := readSecret(string(f), maxSubjectTokens)
	if err == nil && json.Unmarshal(raw, &all) != nil { // its error may have a token
		err = fmt.Errorf(`%s: want {"SUBJECT": {"NAME": "TOKEN"}}`, string(f))
	}
	return all, err
}
