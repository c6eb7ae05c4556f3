package doc

import (
	"path"
	"strings"
)

// Kind is the kind of a text. It decides how lines are grouped, scored and protected.
type Kind string

// The kinds. Auto detects one from the hints and the text.
const (
	Auto Kind = ""
	Code Kind = "code"
	Logs Kind = "logs"
	Docs Kind = "docs"
	Grep Kind = "grep"
)

// KindOfFile returns the kind that a file's extension implies, or its name if it customarily has no
// extension. It returns Auto when neither is known.
func KindOfFile(name string) Kind {
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
		".csv", ".tsv", ".jsonl", ".ndjson", ".graphql", ".sass", ".less", ".ini", ".cfg", ".conf", ".properties":
		return Code
	}
	return Auto
}

// GrepLine splits a line that grep or rg printed: path:line:text, or path-line-text for a context line.
func GrepLine(line string) (path, rest string, ok bool) {
	for at := 1; at < min(len(line), LongestPath); at++ {
		if line[at] != ':' && line[at] != '-' {
			continue
		}
		end := at + 1
		for end < len(line) && ByteClass[line[end]] == Digit {
			end++
		}
		if end > at+1 && end < len(line) && line[end] == line[at] {
			return line[:at], line[end+1:], PathShaped(line[:at])
		}
	}
	return "", "", false
}

// LongestPath is the largest offset in bytes at which the path of a line may end.
const LongestPath = 300

// PathShaped reports whether s has a letter, a dot or a slash and none of the characters that precede a
// date in JSON or in name=value pairs.
func PathShaped(s string) bool {
	named := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '[', '(', '{', '=', '"':
			return false
		case ':':
			if i != 1 { // as in C:\x
				return false
			}
		case '.', '/':
			named = true
		default:
			named = named || Letter(c)
		}
	}
	return named
}
