package lineprune

import "strings"

// modifiers may stand before the keyword of a definition, in any language here.
var modifiers = wordSet(`export default public private protected internal static async pub final abstract virtual override inline
	unsafe const extern declare readonly sealed partial open data suspend native synchronized transient volatile noexcept constexpr
	friend explicit template typedef mut crate local global`)

// defWords open a definition.
var defWords = wordSet(`func function fn def class interface struct enum trait impl type module namespace object record union
	protocol extension macro_rules sub procedure package mod contract defmodule defp defmacro`)

// notCalls stand before a parenthesis without being a definition's name.
var notCalls = wordSet(`if for while switch else catch return do try with when until match throw new delete sizeof typeof assert
	elif except lambda yield await defer go select case in and or not foreach using lock print raise`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// isDefinition says whether a line, white space cut, opens a definition: by its
// keyword in any language, or by the shape of a C-like signature.
func isDefinition(line string, next []string) bool {
	if line == "" || !wordClass(class[line[0]]) && line[0] != '~' && line[0] != '*' {
		return false
	}
	rest := line
	for range 6 {
		w, after := firstWord(rest)
		switch {
		case w == "":
			return signature(line, rest, next)
		case defWords[w]:
			return len(after) > 0 && after[0] != '=' && after[0] != '.' && after[0] != ',' && after[0] != ':'
		case !modifiers[w]:
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

func firstWord(s string) (word, rest string) {
	i := 0
	for i < len(s) && wordClass(class[s[i]]) {
		i++
	}
	return s[:i], strings.TrimLeft(s[i:], " \t")
}

// signature recognises `int f(int a) {`, `name(args) {`, `x = function (`,
// `const f = (a) => {` and a C name whose brace stands on the next line.
func signature(line, rest string, next []string) bool {
	if first, _ := firstWord(rest); notCalls[first] {
		return false
	}
	line = strings.TrimRight(line, " \t\r")
	paren := strings.IndexByte(line, '(')
	if paren <= 0 {
		return false
	}
	opens := strings.HasSuffix(line, "{") || bodyFollows(line, next)
	head := line[:paren]
	if strings.ContainsAny(head, "=:") {
		return opens && (strings.Contains(line, "=>") || strings.Contains(line, "function"))
	}
	if strings.ContainsAny(head, ".\"'+-/%!?<>|&;") && !strings.ContainsAny(head, "<>:~") {
		return false
	}
	return opens && !strings.HasSuffix(line, ");")
}

// bodyFollows says whether a signature that does not end on its line reaches an
// opening brace within the next ones.
func bodyFollows(line string, next []string) bool {
	if !strings.HasSuffix(line, ")") && !strings.HasSuffix(line, ",") && !strings.HasSuffix(line, "(") {
		return false
	}
	for _, l := range next {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "{") || strings.HasSuffix(l, "{") && !strings.ContainsAny(l, ";=") {
			return !controlLine(l)
		}
		if l == "" || strings.HasSuffix(l, ";") || strings.HasSuffix(l, "}") {
			return false
		}
	}
	return false
}

func controlLine(l string) bool {
	first, _ := firstWord(l)
	return notCalls[first]
}

// isImport recognises the lines that name what a file needs.
func isImport(line string) bool {
	switch w, rest := firstWord(line); w {
	case "import", "package", "use", "using", "require", "include":
		return rest != "" && !strings.ContainsAny(rest[:1], "=.")
	case "from":
		return strings.Contains(rest, " import ")
	case "const", "var", "let":
		return strings.Contains(rest, "= require(")
	}
	return strings.HasPrefix(line, "#include") || strings.HasPrefix(line, "#import")
}

// isComment recognises lines that only comment or decorate what follows them.
func isComment(line string) bool {
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

// definedName is the identifier a definition's line defines: the one after the
// keyword, else the one before the first parenthesis.
func definedName(line string) string {
	line = strings.TrimSpace(line)
	for rest := line; ; {
		word, after := firstWord(rest)
		if defWords[word] {
			if receiver, ok := strings.CutPrefix(after, "("); ok && word == "func" {
				_, after, _ = strings.Cut(receiver, ")")
			}
			name, _ := firstWord(strings.TrimLeft(after, " \t!*&"))
			return name
		}
		if !modifiers[word] {
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

func nameBeforeParenthesis(line string) string {
	end := strings.IndexAny(line, "([{:=")
	if end < 0 {
		end = len(line)
	}
	head := strings.TrimRight(line[:end], " \t*&")
	start := len(head)
	for start > 0 && wordClass(class[head[start-1]]) {
		start--
	}
	return head[start:]
}
