package connect

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// subjectToken matches what stands for a token of the subject for whom a connection is opened.
var subjectToken = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{subject\.token:([A-Za-z0-9_.-]+)\}`) })

// PerSubject reports whether each subject has a connection of its own, because it has tokens of its own.
func (s Config) PerSubject() bool {
	for _, values := range []map[string]string{s.Env, s.Headers} {
		for _, value := range values {
			if subjectToken().MatchString(value) {
				return true
			}
		}
	}
	return false
}

// misplacesToken reports whether a token would stand where it does not belong: in a list of processes, a log, or under a name
// that is not understood.
func (s Config) misplacesToken() bool {
	rest := append([]string{s.Command, s.URL, s.Cwd}, s.Args...)
	for _, values := range []map[string]string{s.Env, s.Headers} {
		rest = slices.AppendSeq(rest, maps.Keys(values))
		for _, value := range values {
			rest = append(rest, subjectToken().ReplaceAllLiteralString(value, ""))
		}
	}
	return slices.ContainsFunc(rest, func(text string) bool { return strings.Contains(text, "${subject.") })
}

// forSubject returns the entry with a subject's tokens in place.
func (s Config) forSubject(token func(name string) (string, error)) (Config, error) {
	if !s.PerSubject() {
		return s, nil
	}
	if token == nil {
		return s, errors.New("its entry has ${subject.token:NAME}, and no file with tokens is named: start the gateway with --subject-tokens FILE")
	}
	var failed error
	replace := func(values map[string]string) map[string]string {
		full := maps.Clone(values)
		for key, value := range values {
			full[key] = subjectToken().ReplaceAllStringFunc(value, func(m string) string {
				value, err := token(subjectToken().FindStringSubmatch(m)[1])
				failed = errors.Join(failed, err)
				return value
			})
		}
		return full
	}
	s.Env, s.Headers = replace(s.Env), replace(s.Headers)
	return s, failed
}
