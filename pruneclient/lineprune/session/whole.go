package session

import (
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Limits of what a call asks for as a whole.
const (
	Bounded     = 200 // lines to which an agent bounded an output itself
	ShortFile   = 120 // lines of a file that is worth reading whole
	LongContext = 10  // lines of context, from which on a search is made for what stands around its matches
)

// Whole returns why a call asks for all lines of its output, judged by the call alone, or "". lines is the output's length.
func (c Origin) Whole(lines int) string {
	switch {
	case c.listsNames():
		return "a list of names or counts"
	case c.Around() >= LongContext:
		return "a search for what stands around its matches"
	case lines <= Bounded+fewMore && c.bound() <= Bounded+fewMore:
		return "a range that the call chose"
	}
	return ""
}

// fewMore is the number of lines above Bounded that are allowed: a client or an echo adds some to an output, and "sed -n 700,900p"
// prints 201.
const fewMore = 8

// The tools that list names, and the modes of searches that do.
var (
	nameTools = []string{"glob", "ls", "list", "list_directory", "find_files", "search_files"}
	nameModes = []string{"files", "files_with_matches", "files_without_matches", "count"}
)

// listsNames reports whether the call lists names or counts.
func (c Origin) listsNames() bool {
	command := c.Command()
	if command == "" {
		return slices.Contains(nameTools, strings.ToLower(c.Tool)) || slices.Contains(nameModes, Text(c.Args, "output_mode"))
	}
	found := false
	for _, pipeline := range spoken(command) {
		if found = listsNames(pipeline); !found {
			return false
		}
	}
	return found
}

// spoken returns the pipelines of a command that print something to read.
func spoken(command string) [][][]string { return slices.DeleteFunc(outer(command), silent) }

// outer returns the pipelines of a command, in which "_" stands for what another command inside prints.
func outer(command string) [][][]string { return Pipelines(inner().ReplaceAllString(command, "_")) }

var inner = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\([^()]*\)`) })

func silent(pipeline [][]string) bool { return len(pipeline) == 1 && Has(pipeline[0][0], Silent) }

// listsNames reports whether a pipeline prints names or counts.
func listsNames(pipeline [][]string) bool {
	names := false
	for i, words := range pipeline {
		words = bare(words)
		name := program(words)
		switch {
		case lister(words), name == "uniq" && flagged(words[1:], "c", "fsw"):
			names = true
		case name == "xargs":
			words = afterOptions(words[1:], "nPIdLEs")
			names = names && len(words) > 0 && lister(words)
		case i == 0, !Has(name, filters):
			names = false
		}
	}
	return names
}

// listers are the programs that print names and counts, and the verbs of others that do.
var listers = map[string][]string{
	"ls": nil, "tree": nil, "locate": nil, "wc": nil, "du": nil, "dir": nil, "get-childitem": nil,
	"git": {"ls-files", "ls-tree", "ls-remote", "for-each-ref", "branch", "tag", "remote", "worktree"},
	"npm": {"ls", "list", "outdated"}, "pnpm": {"ls", "list", "outdated"}, "yarn": {"list", "outdated"}, "bun": {"outdated"},
	"pip": {"list", "freeze"}, "pip3": {"list", "freeze"}, "go": {"list"}, "cargo": {"tree", "outdated"},
}

// valued has the one-letter options of searches that take a value, so that what follows them is no option.
const (
	grepValued = "efmABCdD"
	rgValued   = "efmABCdgtTjErM"
)

// lister reports whether a program prints names or counts.
func lister(words []string) bool {
	name, args := program(words), words[1:]
	switch name {
	case "find", "fd", "fdfind":
		return finds(args)
	case "git":
		if args = afterOptions(args, "Cc"); len(args) > 0 && args[0] == "diff" {
			return flagged(args[1:], "", "")
		}
	}
	switch found, valued := searchArgs(words); valued {
	case grepValued:
		return flagged(found, "lLco", valued)
	case rgValued:
		return flagged(found, "lco", valued)
	}
	verbs, ok := listers[name]
	return ok && (verbs == nil || len(args) > 0 && slices.Contains(verbs, args[0]))
}

// finds reports whether the arguments of find print names: it may run another program on each.
func finds(args []string) bool {
	for i, arg := range args {
		switch arg {
		case "-exec", "-execdir", "-ok", "-x", "-X", "--exec", "--exec-batch":
			return i+1 < len(args) && lister(args[i+1:])
		case "-delete":
			return false
		}
	}
	return true
}

// nameFlags are the long options by which a program prints names or counts.
var nameFlags = []string{"--files", "--files-with-matches", "--files-without-match", "--count", "--count-matches", "--only-matching", "--name-only", "--name-status"}

// flagged reports whether one of some one-letter options is among the arguments of a program, or one of nameFlags. What
// follows an option in valued is its value.
func flagged(args []string, letters, valued string) bool {
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		arg := args[i]
		if slices.Contains(nameFlags, arg) {
			return true
		}
		if len(arg) < 2 || arg[0] != '-' || arg[1] == '-' {
			continue
		}
		for at, c := range arg[1:] {
			if strings.ContainsRune(letters, c) {
				return true
			}
			if strings.ContainsRune(valued, c) {
				if at+2 == len(arg) {
					i++
				}
				break
			}
		}
	}
	return false
}

// afterOptions returns the arguments from the first one on that is no option. Options in valued take a value.
func afterOptions(args []string, valued string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if len(args[0]) == 2 && strings.Contains(valued, args[0][1:]) {
			args = args[1:]
		}
		args = args[min(1, len(args)):]
	}
	return args
}

// Around returns the lines of context around each match that a search asks for.
func (c Origin) Around() (lines int) {
	for _, name := range []string{"-A", "-B", "-C", "context", "context_lines", "before_context", "after_context"} {
		lines = max(lines, c.number(name))
	}
	for _, pipeline := range Pipelines(c.Command()) {
		for _, words := range pipeline {
			args, _ := searchArgs(bare(words))
			lines = max(lines, optionOf(args, "ABC", "--context", "--after-context", "--before-context", "--after", "--before"))
		}
	}
	return lines
}

// Sought returns the pattern of a search, by its argument or in its command, or "".
func (c Origin) Sought() string {
	if pattern := c.Pattern(); pattern != "" {
		return pattern
	}
	for _, pipeline := range Pipelines(c.Command()) {
		for _, words := range pipeline {
			if args, valued := searchArgs(bare(words)); valued != "" {
				return pattern(args, valued)
			}
		}
	}
	return ""
}

// pattern returns the pattern among the arguments of a search.
func pattern(args []string, valued string) string {
	for i, arg := range args[:max(len(args)-1, 0)] {
		if arg == "-e" {
			return args[i+1]
		}
	}
	if args = afterOptions(args, valued); len(args) > 0 {
		return args[0]
	}
	return ""
}

// searchArgs returns the arguments of a search program and its one-letter options that take a value, "" for other programs.
func searchArgs(words []string) (args []string, valued string) {
	switch name, args := program(words), words[1:]; name {
	case "git":
		if args = afterOptions(args, "Cc"); len(args) > 0 && args[0] == "grep" {
			return args[1:], grepValued
		}
	case "grep", "egrep", "fgrep":
		return args, grepValued
	case "rg", "ag", "ack":
		return args, rgValued
	}
	return nil, ""
}

// optionOf returns the largest number that the arguments of a program give to a one-letter or a long option, or 0. A number
// without a letter, such as "-30", is lines of context.
func optionOf(args []string, letters string, long ...string) (largest int) {
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		short := len(arg) > 1 && arg[0] == '-' && arg[1] != '-'
		switch at := strings.IndexAny(arg, letters); {
		case arg == "--":
			return largest
		case slices.Contains(long, name) && !joined && i+1 < len(args), short && at == len(arg)-1 && i+1 < len(args):
			value = args[i+1]
		case slices.Contains(long, name):
		case short && at > 0:
			value = arg[at+1:]
		case short && strings.Contains(letters, "C"):
			value = arg[1:]
		default:
			continue
		}
		if n, err := strconv.Atoi(value); err == nil {
			largest = max(largest, n)
		}
	}
	return largest
}

// unbounded is more than the lines of any output.
const unbounded = math.MaxInt32

// bound returns the number of lines to which the call bounds its output, or unbounded.
func (c Origin) bound() int {
	if command := c.Command(); command != "" {
		return boundOfAll(spoken(command))
	}
	return c.boundByArgs()
}

// boundOfAll returns the number of lines to which pipelines bound what they print together, or unbounded. Lists of names
// count none: they are whole anyway.
func boundOfAll(pipelines [][][]string) (lines int) {
	if len(pipelines) == 0 {
		return unbounded
	}
	for _, pipeline := range pipelines {
		if listsNames(pipeline) {
			continue
		}
		least := unbounded
		for _, words := range pipeline {
			least = min(least, boundOf(bare(words)))
		}
		if lines += least; lines >= unbounded {
			return unbounded
		}
	}
	return lines
}

// WholeParts returns the ranges of lines, end excluded, of the parts of an output that the call asks for as a whole. A command
// divides its output by headings that it prints itself: "echo '== tags =='; git tag | head -5; echo '== code =='; cat a.go".
func (c Origin) WholeParts(lines []string) (parts [][2]int) {
	start, from := 0, 0 // the part's first line and first pipeline
	pipelines := outer(c.Command())
	end := func(line, pipeline int) {
		printing := slices.DeleteFunc(slices.Clone(pipelines[from:pipeline]), silent)
		if line-start <= Bounded+fewMore && boundOfAll(printing) <= Bounded+fewMore {
			parts = append(parts, [2]int{start, line})
		}
		start, from = line+1, pipeline+1
	}
	for i, p := range pipelines {
		heading := strings.TrimSpace(strings.ReplaceAll(strings.Join(p[0][1:], " "), `\n`, "\n"))
		if p[0][0] != "echo" && p[0][0] != "printf" || len(p) > 1 || heading == "" {
			continue
		}
		at := slices.IndexFunc(lines[start:], func(line string) bool { return strings.TrimSpace(line) == heading })
		if at < 0 {
			return nil // the shell has changed it
		}
		end(start+at, i)
	}
	if from > 0 {
		end(len(lines), len(pipelines))
	}
	return parts
}

// boundByArgs does the same by the arguments of a tool that reads a file or searches. Other tools count something else than lines.
func (c Origin) boundByArgs() int {
	if c.Tool == "other" || c.File() == "" && Text(c.Args, "pattern") == "" {
		return unbounded
	}
	first, last := c.FirstLine(), c.number("end_line")
	if view, _ := c.Args["view_range"].([]any); len(view) == 2 {
		ends := Origin{Args: map[string]any{"offset": view[0], "end_line": view[1]}}
		first, last = ends.FirstLine(), ends.number("end_line")
	}
	switch limit := c.number("limit", "head_limit", "max_results"); {
	case limit > 0:
		return limit
	case last > 0:
		return last - max(first, 1) + 1
	}
	return unbounded
}

// boundOf returns the number of lines to which a program bounds what it prints. Further files make it more, which the
// number of lines shows.
func boundOf(words []string) int {
	args := words[1:]
	switch name := program(words); name {
	case "head", "tail":
		return headBound(args)
	case "git":
		if args = afterOptions(args, "Cc"); len(args) > 0 && args[0] == "log" && slices.ContainsFunc(args, oneLine) {
			return cmp.Or(optionOf(args, "nC", "--max-count"), unbounded) // -C stands for -20
		}
	case "sed":
		return sedBound(args)
	case "grep", "egrep", "fgrep", "rg":
		if n := optionOf(args, "m", "--max-count"); n > 0 {
			return n
		}
	case "get-content", "select-object":
		for i, arg := range args[:max(len(args)-1, 0)] {
			switch strings.ToLower(arg) {
			case "-totalcount", "-head", "-tail", "-first", "-last":
				return count(args[i+1])
			}
		}
	}
	return unbounded
}

// oneLine reports whether an option of git's log makes it print a line a commit.
func oneLine(option string) bool {
	return option == "--oneline" || strings.HasPrefix(option, "--format=") || strings.HasPrefix(option, "--pretty=")
}

// headBound returns the number of lines that head or tail print: "-20", "-n 20", "-n20", "--lines=20". "+20" and, for head, a
// negative number stand for a place, not for a number of lines.
func headBound(args []string) int {
	for i, arg := range args {
		value, lines := strings.CutPrefix(arg, "--lines=")
		switch {
		case lines:
		case arg == "-n" || arg == "--lines":
			value = args[min(i+1, len(args)-1)]
		case strings.HasPrefix(arg, "-n"):
			value = arg[2:]
		case strings.HasPrefix(arg, "-c"), strings.HasPrefix(arg, "--bytes"), arg == "-f", strings.HasPrefix(arg, "+"):
			return unbounded
		case len(arg) > 1 && arg[0] == '-' && arg[1] >= '0' && arg[1] <= '9':
			value = arg[1:]
		default:
			continue
		}
		return count(value)
	}
	return defaultHead
}

// defaultHead is the number of lines that head and tail print if nothing else is said.
const defaultHead = 10

// sedBound returns the number of lines that "sed -n" prints: "10,20p", "7p", or several of these.
func sedBound(args []string) (lines int) {
	quiet := false
	for _, arg := range args {
		switch {
		case arg == "-n":
			quiet = true
		case arg == "-e":
		case strings.HasPrefix(arg, "-"):
			return unbounded
		default:
			for part := range strings.SplitSeq(arg, ";") {
				from, to, ranged := strings.Cut(strings.TrimSuffix(strings.TrimSpace(part), "p"), ",")
				first, last := count(from), count(to)
				if !ranged {
					last = first
				}
				if lines += last - first + 1; first == unbounded || last == unbounded {
					return unbounded
				}
			}
			if quiet {
				return lines
			}
			return unbounded
		}
	}
	return unbounded
}

// count reads a number of lines, or returns unbounded.
func count(text string) int {
	if n, err := strconv.Atoi(text); err == nil && n >= 0 && text[0] != '+' {
		return n
	}
	return unbounded
}

// number returns the first of the named arguments that is a positive number, or 0.
func (c Origin) number(names ...string) int {
	for _, name := range names {
		switch n := c.Args[name].(type) {
		case float64:
			return int(max(min(n, maxLine), 0))
		case int:
			return max(min(n, maxLine), 0)
		case json.Number:
			if line, err := n.Int64(); err == nil {
				return int(max(min(line, maxLine), 0))
			}
		case string:
			if line, err := strconv.Atoi(n); err == nil {
				return max(min(line, maxLine), 0)
			}
		}
	}
	return 0
}
