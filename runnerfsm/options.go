package runnerfsm

import (
	"slices"
	"strings"
)

// cutOption finds an option that takes a value, by all its names, and returns its
// values and the options without it. A value may stand by itself or behind "=",
// and right behind a name of one letter.
func cutOption(options []string, names ...string) (values, rest []string) {
	for i := 0; i < len(options); i++ {
		switch value, attached, found := match(options[i], names); {
		case attached:
			values = append(values, value)
		case found && i+1 < len(options):
			i++
			values = append(values, options[i])
		default:
			rest = append(rest, options[i])
		}
	}
	return values, rest
}

// match compares an argument with the names of an option.
func match(arg string, names []string) (value string, attached, found bool) {
	for _, name := range names {
		rest, is := strings.CutPrefix(arg, name)
		short := !strings.HasPrefix(name, "--")
		switch {
		case is && rest == "":
			return "", false, true
		case is && (rest[0] == '=' || short):
			return strings.TrimPrefix(rest, "="), true, true
		}
	}
	return "", false, false
}

// last is the value that counts, "" when there is none.
func last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// cutFlag says whether a flag is given and returns the options without it.
func cutFlag(options []string, name string) (given bool, rest []string) {
	rest = slices.DeleteFunc(slices.Clone(options), func(o string) bool { return o == name })
	return len(rest) < len(options), rest
}

// withPrompt puts the prompt where no option can swallow it and it is no option
// itself.
func withPrompt(args []string, prompt string) []string {
	if prompt == "" {
		return args
	}
	return append(args, "--", prompt)
}
