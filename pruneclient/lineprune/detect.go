package lineprune

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// diffShare is how much of a text is a diff, at least, when it is one and not a log
// that has come by one.
const diffShare = 0.25

// looksLikeDiff says whether a text is a diff or a patch, commit messages and all.
// Those are never pruned: every line of one counts.
func looksLikeDiff(d *document) bool {
	files, hunks, inside, lines := false, false, false, 0
	for _, line := range d.lines {
		first := byte(' ') // a blank line of context may have lost its space
		if line != "" {
			first = line[0]
		}
		switch {
		case first == '@' && strings.HasPrefix(line, "@@ -") && strings.Contains(line[4:], " @@"):
			hunks, inside = true, true
		case first == 'd' && strings.HasPrefix(line, "diff --git "), first == '+' && strings.HasPrefix(line, "+++ "),
			first == 'I' && strings.HasPrefix(line, "Index: "):
			files, inside = true, true
		case inside:
			inside = strings.IndexByte(` +-\`, first) >= 0
		}
		if inside {
			lines++
		}
	}
	return hunks && files && float64(lines) >= diffShare*float64(len(d.lines))
}

// detect chooses the kind from the hints, then from the text. A kind given stands,
// except that a list of matches is one even where the caller says code.
func detect(d *document, kind Kind, opts Options) Kind {
	if kind == Code && looksLikeGrep(d) {
		return Grep
	}
	if kind != Auto {
		return kind
	}
	if k := kindOfFile(opts.File); k != Auto {
		return k
	}
	if listsPaths(d) {
		return Grep
	}
	if opts.Command != "" {
		return kindOfOutput(d, opts.Command)
	}
	if looksLikeGrep(d) {
		return Grep
	}
	return kindOfText(d)
}

// kindOfOutput is the kind of what a command printed: a file's when it only shows
// one, a list of matches from the searching tools, else most likely a log.
func kindOfOutput(d *document, command string) Kind {
	words := withoutSetting(strings.Fields(command))
	if len(words) == 0 {
		return kindOfText(d)
	}
	switch tool := path.Base(words[0]); tool {
	case "cat", "head", "tail", "sed", "less", "more", "bat", "nl", "awk":
		if k := kindOfFile(strings.Trim(words[len(words)-1], `"'`)); k != Auto {
			return k
		}
		return kindOfText(d)
	case "grep", "rg", "ag", "ack", "egrep":
		if looksLikeGrep(d) {
			return Grep
		}
	case "man", "info":
		return Docs
	case "git":
		if len(words) > 1 && words[1] == "grep" && looksLikeGrep(d) {
			return Grep
		}
		if len(words) > 1 && words[1] == "show" && strings.Contains(words[len(words)-1], ":") {
			if k := kindOfFile(words[len(words)-1]); k != Auto {
				return k
			}
			return kindOfText(d)
		}
	}
	return Logs
}

// withoutSetting cuts what only prepares a command: "cd dir &&" and assignments.
func withoutSetting(words []string) []string {
	for len(words) > 0 {
		name, _, assigned := strings.Cut(words[0], "=")
		switch {
		case words[0] == "cd":
			for len(words) > 0 && words[0] != "&&" && !strings.HasSuffix(words[0], ";") {
				words = words[1:]
			}
			words = words[min(1, len(words)):]
		case assigned && !strings.ContainsAny(name, "/-"):
			words = words[1:]
		default:
			return words
		}
	}
	return words
}

// kindOfFile goes by the extension, or by the name of a file that has none by
// custom; Auto when neither says.
func kindOfFile(name string) Kind {
	switch path.Base(name) {
	case "Dockerfile", "Containerfile", "Makefile", "GNUmakefile", "Jenkinsfile", "Vagrantfile", "Gemfile", "Rakefile", "BUILD", "CMakeLists.txt":
		return Code
	}
	switch ext := strings.ToLower(path.Ext(path.Base(name))); ext {
	case "", ".":
		return Auto
	case ".md", ".mdx", ".markdown", ".rst", ".adoc", ".html", ".htm", ".tex", ".org", ".1", ".3", ".5", ".8":
		return Docs
	case ".log", ".out", ".trace", ".err":
		return Logs
	case ".go", ".py", ".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".java", ".kt", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".rs",
		".rb", ".php", ".swift", ".scala", ".sh", ".bash", ".pl", ".lua", ".ex", ".exs", ".erl", ".hs", ".ml", ".clj", ".sql", ".vue",
		".svelte", ".zig", ".dart", ".r", ".m", ".mm", ".css", ".scss", ".proto", ".tf", ".json", ".yaml", ".yml", ".toml", ".xml",
		".cxx", ".hh", ".hxx", ".kts", ".gradle", ".groovy", ".pyi", ".mts", ".cts", ".jl", ".fs", ".ps1", ".mk", ".cmake", ".hcl",
		".graphql", ".sass", ".less", ".ini", ".cfg", ".conf", ".properties":
		return Code
	}
	return Auto
}

// grepLine cuts path:line:text, or path-line-text of a context line, as grep and
// rg print them.
func grepLine(line string) (path, rest string, ok bool) {
	for at := 1; at < min(len(line), longestPath); at++ {
		if line[at] != ':' && line[at] != '-' {
			continue
		}
		end := at + 1
		for end < len(line) && class[line[end]] == digit {
			end++
		}
		if end > at+1 && end < len(line) && line[end] == line[at] {
			return line[:at], line[end+1:], pathShaped(line[:at])
		}
	}
	return "", "", false
}

// longestPath is how far into a line its path may reach.
const longestPath = 300

// pathShaped is true of a word with a letter, a dot or a slash, and with nothing that
// stands before a date in JSON or in pairs of names and values.
func pathShaped(s string) bool {
	named := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '[', '(', '{', '=', '"':
			return false
		case ':':
			if i != 1 { // C:\x is a path
				return false
			}
		case '.', '/':
			named = true
		default:
			named = named || letter(c)
		}
	}
	return named
}

// looksLikeGrep is true when nearly all lines name a place, and more than one does.
// Only context lines have dashes for colons, and what has dashes may be a date. A
// compiler names places too, but has messages there.
func looksLikeGrep(d *document) bool {
	seen, match, colons, messages := 0, 0, 0, 0
	for _, line := range d.lines[:min(len(d.lines), 200)] {
		if line == "" || line == "--" {
			continue
		}
		seen++
		if path, rest, ok := grepLine(line); ok {
			match++
			if line[len(path)] == ':' {
				colons++
			}
			if isMessage(rest) {
				messages++
			}
		}
	}
	return seen > 2 && colons > 0 && messages*2 <= match && match*10 >= seen*9
}

// listsPaths is true of what find, rg -l and rg -c print. A build may list its files,
// too, and say something else in the end.
func listsPaths(d *document) bool {
	const few = 2
	paths, others := 0, 0 // LICENSE, Makefile and what else has neither dot nor slash
	for _, line := range d.lines {
		switch {
		case line == "":
		case barePath(line):
			paths++
		case strings.ContainsAny(line, " \t=:{\"") || signal(line) > 0:
			return false
		default:
			others++
		}
	}
	return paths > few && others*10 <= paths
}

// barePath is true of a path with a directory or an extension, and of one with a count
// behind it.
func barePath(line string) bool {
	if len(line) > longestPath {
		return false
	}
	path := line
	if colon := strings.LastIndexByte(line, ':'); colon > 0 && strings.Trim(line[colon+1:], "0123456789") == "" {
		path = line[:colon]
	}
	return pathShaped(path) && strings.ContainsAny(path, "./") && class[path[len(path)-1]] != other
}

// isMessage is true of what follows a place in a compiler's line: a column perhaps,
// one space, a word. What a search found keeps its own indentation.
func isMessage(rest string) bool {
	if after := strings.TrimLeft(rest, "0123456789"); after != rest {
		rest = strings.TrimPrefix(after, ":")
	}
	return len(rest) > 1 && rest[0] == ' ' && letter(rest[1])
}

// votes are what the lines of a text look like.
type votes struct {
	code, docs, logs int
	lines, defs      int // lines that voted, and definitions and imports among them
}

// kindOfText counts what the lines of the text's beginning, middle and end look like.
func kindOfText(d *document) Kind {
	const sample, fewLines = 200, 20
	var v votes
	n, fence := len(d.lines), ""
	for i := 0; i < n; i++ {
		if n > 3*sample && i == sample {
			i = n/2 - sample/2
		}
		if n > 3*sample && i == n/2+sample/2 {
			i = n - sample
		}
		if d.blank(i) {
			continue
		}
		inside := fence
		fence = fenceAfter(fence, d.lines[i])
		if inside == "" { // what a page quotes does not say what it is
			v.add(d, i, d.lines[i][firstVisible(d.lines[i]):])
		}
	}
	switch {
	case v.logs > v.code && v.logs >= v.docs:
		return Logs
	case v.docs > v.code && v.defs*12 < v.lines: // long comments do not make a page of a program
		return Docs
	case v.lines >= fewLines && v.code*5 < v.lines: // nothing says what it is: records of some kind
		return Logs
	}
	return Code
}

func (v *votes) add(d *document, i int, text string) {
	v.lines++
	switch {
	case logShape(text):
		v.logs += 4
	case isDefinition(text, d.following(i)), isImport(text):
		v.code += 4
		v.defs++
	case strings.HasPrefix(text, "```"):
		v.docs += 8
	case markdownHeading(text), underline(d.next(i)) && d.indent[i] == 0, strings.HasPrefix(text, "- "), strings.HasPrefix(text, "* ") && d.indent[i] == 0:
		v.docs += 4
	case strings.IndexByte("{}();,=:", lastVisible(text)) >= 0 || statement(text) || isComment(text) && text[0] != '#' || text[0] == '<':
		v.code += 2
	case signal(text) >= 0.7:
		v.logs += 2
	case i > 0 && lastVisible(text) != '.' && template(d.lines[i]) == template(d.lines[i-1]): // one statement printed both
		v.logs += 2
	case prose(text):
		v.docs += 2
	}
}

// statement is true of assignments, and of lines that begin as code does.
func statement(text string) bool {
	first, rest := firstWord(text)
	return notCalls[first] && !strings.HasSuffix(text, ".") || strings.Contains(text, " = ") || strings.Contains(text, " := ") ||
		first != "" && (strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, ".")) && strings.IndexByte(text, ' ') != len(first)
}

func lastVisible(text string) byte {
	text = strings.TrimRight(text, " \t\r")
	return text[len(text)-1]
}

func markdownHeading(text string) bool {
	t := strings.TrimLeft(text, "#")
	if len(t) == len(text) || len(text)-len(t) > 6 || len(t) <= 2 || t[0] != ' ' {
		return false
	}
	first, _ := utf8.DecodeRuneInString(t[1:])
	return unicode.IsLetter(first) && !unicode.IsLower(first)
}

// prose is true of a line of several words that are not punctuated like code, or of
// many characters of a script without spaces.
func prose(text string) bool {
	const sentence = 12
	if strings.ContainsAny(text, "{};=") {
		return false
	}
	if words := strings.Count(text, " ") + 1; words >= 6 && len(text) < words*12 {
		return true
	}
	n := 0
	for _, r := range text {
		if r >= utf8.RuneSelf && unspaced(r) {
			n++
		}
	}
	return n >= sentence
}

// logShape is true of lines that programs print about what they do: with a time,
// a level, a test's name or verdict, a place in a file.
func logShape(text string) bool {
	if timestamped(text) || frontEnd(text) > 0 || harmless(text) && !strings.HasPrefix(text, "=== ") || verdict(text) || diagnostic(text) || titledRule(text) {
		return true
	}
	for _, p := range []string{"=== RUN", "=== CONT", "--- FAIL", "FAIL", "Traceback (", "npm ", "make", "gcc ", "cc ", "not ok ", "goroutine ",
		"[INFO]", "[ERROR]", "[WARN", "[DEBUG]", "INFO ", "WARN ", "ERROR ", "DEBUG ", "at ", "File \"", "Compiling ", "Downloading ", "error[", "error:", "warning:", "> Task :",
		"TASK [", "PLAY [", "ok: [", "changed: [", "fatal: ["} {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return strings.Contains(text, ") = ") && !strings.HasSuffix(text, "{") && !strings.HasSuffix(text, ";") || // a traced system call
		strings.HasPrefix(text, "commit ") && len(text) >= 47 ||
		strings.HasSuffix(text, "... FAIL") || strings.HasSuffix(text, "... ERROR") || strings.HasSuffix(text, "%]") ||
		strings.Contains(text, ") ... ") || buildStep(text)
}

// buildStep is true of "#8 2.1 what was done", as docker build prints.
func buildStep(text string) bool {
	number, rest, _ := strings.Cut(text, " ")
	return len(number) > 1 && number[0] == '#' && strings.Trim(number[1:], "0123456789") == "" && rest != ""
}

// titledRule is true of "===== FAILURES =====" and "_____ test_total _____".
func titledRule(text string) bool {
	text = strings.TrimRight(text, " \r")
	for _, rule := range []string{"=====", "_____"} {
		if strings.HasPrefix(text, rule) && strings.HasSuffix(text, rule[:3]) {
			return strings.ContainsFunc(text, unicode.IsLetter)
		}
	}
	return false
}

// timestamped is true when a line's first bytes hold a date or a time of day.
func timestamped(text string) bool {
	text = text[:min(len(text), 40)]
	for i := 0; i+4 < len(text); i++ {
		if class[text[i]] != digit || class[text[i+1]] != digit {
			continue
		}
		sep := text[i+2]
		if (sep == ':' || sep == '-' || sep == '/') && class[text[i+3]] == digit && class[text[i+4]] == digit {
			return true
		}
	}
	return false
}
