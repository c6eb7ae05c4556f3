package provider

import (
	"slices"
	"strings"
)

// cutOption finds an option with a value, under any of its names, and returns its values
// and the remaining options. A value may be the next argument or follow "=", or directly
// follow a one-letter name.
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

// last returns the value that takes effect, "" if there is none.
func last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// cutFlag reports whether a flag is given, and returns the remaining options.
func cutFlag(options []string, name string) (given bool, rest []string) {
	rest = slices.DeleteFunc(slices.Clone(options), func(o string) bool { return o == name })
	return len(rest) < len(options), rest
}

// withPrompt adds the prompt where no option can take it as a value, and where it is not
// parsed as an option.
func withPrompt(args []string, prompt string) []string {
	if prompt == "" {
		return args
	}
	return append(args, "--", prompt)
}
