package runnerfsm

import (
	"slices"
	"strings"
)

// cutOption finds an option that takes a value, given as "--name value" or
// "--name=value", and returns its last value and the options without it.
func cutOption(options []string, name string) (value string, rest []string) {
	for i := 0; i < len(options); i++ {
		given, hasValue := strings.CutPrefix(options[i], name+"=")
		switch {
		case hasValue:
			value = given
		case options[i] == name && i+1 < len(options):
			i++
			value = options[i]
		default:
			rest = append(rest, options[i])
		}
	}
	return value, rest
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
