package settings

import "github.com/spf13/pflag"

// AddFlags gives a verb the flags of a program's settings.
func AddFlags(flags *pflag.FlagSet, program Program) {
	for _, r := range Rows(program) {
		if r.Flag != "" {
			flags.String(r.Flag, r.Default, r.Allowed)
		}
	}
}

// Given returns the settings that the command line sets, by the names of their flags.
func Given(flags *pflag.FlagSet, program Program) map[string]string {
	given := make(map[string]string)
	for _, r := range Rows(program) {
		if r.Flag != "" && flags.Changed(r.Flag) {
			given[r.Flag] = flags.Lookup(r.Flag).Value.String()
		}
	}
	return given
}
