package lineprune

import "strings"

// looksLikeDiff says whether a text is a diff or a patch. Those are never pruned:
// every line of one counts.
func looksLikeDiff(d *document) bool {
	files, hunks := 0, 0
	for _, line := range d.lines {
		switch {
		case strings.HasPrefix(line, "@@ -") && strings.Contains(line[4:], " @@"):
			hunks++
		case strings.HasPrefix(line, "diff --git "), strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "Index: "):
			files++
		}
	}
	return hunks > 0 && files > 0
}

// grepLine cuts path:line:text or path-line-text, as grep and rg print them.
func grepLine(line string) (path, rest string, ok bool) {
	for from := 0; ; {
		at := strings.IndexAny(line[from:], ":-")
		if at < 0 || from+at > 300 {
			return "", "", false
		}
		at += from
		end := at + 1
		for end < len(line) && class[line[end]] == digit {
			end++
		}
		if at > 0 && end > at+1 && end < len(line) && line[end] == line[at] && !strings.ContainsAny(line[:at], " \t") {
			return line[:at], line[end+1:], true
		}
		from = at + 1
	}
}

// detect chooses the kind from the hints, then from the text.
func detect(d *document, kind Kind, opts Options) Kind {
	if kind == Grep || (kind == Auto || kind == Code) && looksLikeGrep(d) {
		return Grep
	}
	if kind != Auto {
		return kind
	}
	if k := kindOfFile(opts.File); k != Auto {
		return k
	}
	if opts.Command != "" {
		return Logs
	}
	return kindOfText(d)
}

func looksLikeGrep(d *document) bool {
	seen, match := 0, 0
	for _, line := range d.lines[:min(len(d.lines), 200)] {
		if line == "" || line == "--" {
			continue
		}
		seen++
		if _, _, ok := grepLine(line); ok {
			match++
		}
	}
	return seen > 2 && match*10 >= seen*9
}

func kindOfFile(name string) Kind {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return Auto
	}
	switch strings.ToLower(name[dot+1:]) {
	case "md", "mdx", "rst", "txt", "adoc", "html", "htm", "tex", "org":
		return Docs
	case "log", "out", "trace":
		return Logs
	}
	return Code
}

// kindOfText counts what the lines look like.
func kindOfText(d *document) Kind {
	code, docs, logs := 0, 0, 0
	for i, line := range d.lines[:min(len(d.lines), 400)] {
		text := strings.TrimSpace(line)
		switch {
		case text == "":
		case isHeading(line, d.next(i)), strings.HasPrefix(text, "```"):
			docs += 3
		case isDefinition(text, d.following(i)), isImport(text):
			code += 3
		case strings.IndexByte("{};", text[len(text)-1]) >= 0:
			code++
		case class[text[0]] == digit, signal(text) > 0, text[0] == '[':
			logs++
		case strings.HasSuffix(text, "."), strings.HasSuffix(text, ","):
			docs++
		}
	}
	switch {
	case code >= docs && code > logs:
		return Code
	case docs > logs:
		return Docs
	}
	return Logs
}
