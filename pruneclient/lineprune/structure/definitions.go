package structure

import (
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

var (
	modifiers = sync.OnceValue(func() map[string]bool { return doc.ListSet("code", "modifiers") })   // words that may precede the keyword of a definition
	defWords  = sync.OnceValue(func() map[string]bool { return doc.ListSet("code", "definitions") }) // keywords that open a definition
	NotCalls  = sync.OnceValue(func() map[string]bool { return doc.ListSet("code", "not-calls") })   // words that may precede a parenthesis without being a definition's name
)

// IsDefinition reports whether a line, without surrounding white space, opens a definition: by a keyword in
// any supported language, or by the shape of a C-like signature. next holds the lines after it.
func IsDefinition(line string, next []string) bool {
	line = undecorated(line)
	if line == "" || !doc.InWord(doc.ByteClass[line[0]]) && line[0] != '~' && line[0] != '*' {
		return false
	}
	if typeSignature(line) || createStatement(line) != "" {
		return true
	}
	rest := line
	for range 6 {
		w, after := FirstWord(rest)
		switch {
		case w == "init" && strings.HasPrefix(after, "("): // Swift; in other languages it may be a call
			return signature(line, rest, next)
		// Swift's initialisers, destructors and computed properties
		case w == "deinit" || w == "init" && strings.HasPrefix(after, "?(") || w == "var" && strings.Contains(after, ": "):
			return strings.HasSuffix(after, "{")
		case w == "":
			return signature(line, rest, next)
		case defWords()[w]:
			operator := w == "func" && strings.HasPrefix(after, "==")
			return operator || len(after) > 0 && !strings.ContainsRune("=.,:", rune(after[0]))
		case !modifiers()[w]:
			return signature(line, rest, next)
		}
		rest = strings.TrimLeft(after, " \t")
		if strings.HasPrefix(rest, "(") { // pub(crate)
			if end := strings.IndexByte(rest, ')'); end > 0 {
				rest = strings.TrimLeft(rest[end+1:], " \t")
			}
		}
	}
	return false
}

// undecorated removes an annotation, or C++ template parameters, from the start of a line that has more
// text after it.
func undecorated(line string) string {
	switch {
	case strings.HasPrefix(line, "template <"), strings.HasPrefix(line, "template<"):
		depth := 0
		for i := range len(line) {
			switch line[i] {
			case '<':
				depth++
			case '>':
				if depth--; depth == 0 && i+2 < len(line) {
					return strings.TrimLeft(line[i+1:], " ")
				}
			}
		}
	case strings.HasPrefix(line, "@"):
		if _, rest, ok := strings.Cut(line, " "); ok && !strings.Contains(line[:len(line)-len(rest)], "(") {
			return strings.TrimLeft(rest, " ")
		}
	}
	return line
}

// FirstWord returns the first word of s, and the text after it without leading white space.
func FirstWord(s string) (word, rest string) {
	i := 0
	for i < len(s) && doc.InWord(doc.ByteClass[s[i]]) {
		i++
	}
	return s[:i], unindented(s[i:])
}

// unindented removes leading blanks. strings.TrimLeft costs more than the rest of FirstWord.
func unindented(s string) string {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return s[i:]
}

// signature recognises `int f(int a) {`, `name(args) {`, `x = function (`, `const f = (a) => {` and a C
// function whose brace is on the next line.
func signature(line, rest string, next []string) bool {
	if first, _ := FirstWord(rest); NotCalls()[first] {
		return false
	}
	line = strings.TrimRight(line, " \t\r")
	paren := strings.IndexByte(line, '(')
	if paren <= 0 {
		return false
	}
	opens := strings.HasSuffix(line, "{") || bodyFollows(line, next)
	head := line[:paren]
	if strings.Contains(head, "operator") {
		return opens
	}
	if strings.ContainsAny(strings.ReplaceAll(head, "::", ""), "=:") { // Class::method is a name
		return opens && (strings.Contains(line, "=>") || strings.Contains(line, "function"))
	}
	if strings.ContainsAny(head, ".\"'+-/%!?<>|&;") && !strings.ContainsAny(head, "<>:~") {
		return false
	}
	return opens && !strings.HasSuffix(line, ");")
}

// typeSignature reports whether a line is a Haskell signature "name :: Type" or data type.
func typeSignature(line string) bool {
	if haskellType(line) != "" {
		return true
	}
	if !strings.Contains(line, "::") { // a rare pair, found faster than a blank
		return false
	}
	if name, rest, found := strings.Cut(line, " :: "); found {
		word, after := FirstWord(name)
		return word != "" && strings.Trim(after, "'") == "" && rest != "" && !strings.HasSuffix(rest, ";")
	}
	return false
}

// haskellType returns the name of the data type that a line defines, or of the class that it declares an
// instance of, or "".
func haskellType(line string) string {
	word, after := FirstWord(line)
	if (word == "data" || word == "newtype") && strings.Contains(after, " = ") || word == "instance" && strings.HasSuffix(after, " where") {
		name, _ := FirstWord(after)
		return name
	}
	return ""
}

// createStatement returns the name that an SQL CREATE statement defines, or "".
func createStatement(line string) string {
	word, rest := FirstWord(line)
	if !strings.EqualFold(word, "create") {
		return ""
	}
	created := false
	for range 8 {
		word, rest = FirstWord(strings.TrimLeft(rest, "\"`["))
		switch {
		case word == "":
			return ""
		case sqlObjects()[strings.ToLower(word)]:
			created = true
		case created && !sqlBetween()[strings.ToLower(word)]:
			for strings.HasPrefix(rest, ".") { // schema.name
				word, rest = FirstWord(rest[1:])
			}
			return word
		}
	}
	return ""
}

// Words of SQL's CREATE: what is created, and what may stand between that and its name.
var (
	sqlObjects = sync.OnceValue(func() map[string]bool { return doc.ListSet("code", "sql-objects") })
	sqlBetween = sync.OnceValue(func() map[string]bool { return doc.ListSet("code", "sql-between") })
)

// bodyFollows says whether a signature that does not end on its line reaches an
// opening brace within the next ones.
func bodyFollows(line string, next []string) bool {
	if !strings.HasSuffix(line, ")") && !strings.HasSuffix(line, ",") && !strings.HasSuffix(line, "(") {
		return false
	}
	for _, l := range next {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "{") || strings.HasSuffix(l, "{") && !strings.ContainsAny(l, ";=") {
			first, _ := FirstWord(l)
			return !NotCalls()[first]
		}
		if l == "" || strings.HasSuffix(l, ";") || strings.HasSuffix(l, "}") {
			return false
		}
	}
	return false
}

// IsImport recognises the lines that name what a file needs.
func IsImport(line string) bool {
	switch w, rest := FirstWord(line); w {
	case "import", "package", "use", "using", "require", "include":
		return rest != "" && !strings.ContainsAny(rest[:1], "=.")
	case "from":
		return strings.Contains(rest, " import ")
	case "const", "var", "let":
		return strings.Contains(rest, "= require(")
	}
	return strings.HasPrefix(line, "#include") || strings.HasPrefix(line, "#import")
}

// IsComment recognises lines that only comment or decorate what follows them.
func IsComment(line string) bool {
	if line == "" {
		return false
	}
	switch line[0] {
	case '#':
		return !strings.HasPrefix(line, "#include") && !strings.HasPrefix(line, "#if") && !strings.HasPrefix(line, "#define") &&
			!strings.HasPrefix(line, "#e")
	case '/':
		return strings.HasPrefix(line, "//") || strings.HasPrefix(line, "/*")
	case '*', '@':
		return true
	case ';', '-':
		return strings.HasPrefix(line, ";;") || strings.HasPrefix(line, "-- ")
	}
	return false
}

// DefinedName is the identifier a definition's line defines: the one after the
// keyword, else the one before the first parenthesis.
func DefinedName(line string) string {
	line = undecorated(strings.TrimSpace(line))
	for _, nameOf := range []func(string) string{createStatement, haskellType} {
		if name := nameOf(line); name != "" {
			return name
		}
	}
	if strings.Contains(line, " :: ") && typeSignature(line) {
		name, _ := FirstWord(line)
		return name
	}
	for rest := line; ; {
		word, after := FirstWord(rest)
		if word == "fun" {
			return receiverless(after)
		}
		if defWords()[word] {
			if receiver, ok := strings.CutPrefix(after, "("); ok && word == "func" {
				_, after, _ = strings.Cut(receiver, ")")
			}
			name, after := FirstWord(strings.TrimLeft(after, " \t!*&"))
			if defWords()[name] && !strings.HasPrefix(after, "(") { // enum class, companion object
				name, _ = FirstWord(after)
			}
			return name
		}
		if (word == "init" || word == "deinit") && !strings.HasPrefix(after, "=") {
			return word
		}
		if !modifiers()[word] {
			return nameBeforeParenthesis(line)
		}
		if after, ok := strings.CutPrefix(after, "("); ok { // pub(crate)
			_, rest, _ = strings.Cut(after, ")")
			rest = strings.TrimLeft(rest, " \t")
			continue
		}
		rest = after
	}
}

// receiverless is the name of a Kotlin function: "<T> List<T>.second()" defines second.
func receiverless(rest string) string {
	if strings.HasPrefix(rest, "<") {
		_, rest, _ = strings.Cut(rest, "> ")
	}
	head, _, _ := strings.Cut(rest, "(")
	return head[strings.LastIndexByte(head, '.')+1:]
}

func nameBeforeParenthesis(line string) string {
	end := strings.IndexAny(line, "([{=")
	if colon := strings.IndexByte(strings.ReplaceAll(line, "::", "__"), ':'); colon >= 0 && (end < 0 || colon < end) {
		end = colon
	}
	if end < 0 {
		end = len(line)
	}
	head := strings.TrimRight(line[:end], " \t*&")
	start := len(head)
	for start > 0 && doc.InWord(doc.ByteClass[head[start-1]]) {
		start--
	}
	return head[start:]
}
