package doc

import (
	"strconv"
	"strings"
)

// Headed is a list of matches in which a file's name is the heading of its matches:
//
//	Found 3 matches     a notice
//	/a/b.go:            heading of opencode
//	  Line 25: text
//	File: b.go          heading of Gemini CLI and Qwen Code
//	L25: text
//	b.go                heading of rg, git grep and ag
//	25:text
//	26-text of a context line
type Headed struct {
	places  []place
	heads   []int32 // per line, the line number of its heading, or -1
	matches int     // lines below a heading
	files   int     // headings
	strong  int     // headings with a slash or a dot
	others  int     // lines that are neither heading, match nor separator
}

// found reports whether the text is such a list. A heading may be followed by lines that continue a match, and the list
// may begin and end with notices.
func (h *Headed) found() bool { return h.files > 0 && h.matches > 0 && h.others*10 <= len(h.places)+20 }

// Sure reports whether the text is such a list even if nothing else says that it comes from a search.
func (h *Headed) Sure() bool {
	return h.found() && h.strong*2 > h.files && h.matches > 2 && h.others*10 <= len(h.places)
}

// Texts returns the matched texts.
func (h *Headed) Texts(d *Document) []string {
	var texts []string
	for i, p := range h.places {
		if p.Number > 0 {
			texts = append(texts, d.Lines[i][p.content:])
		}
	}
	return texts
}

// ReadHeaded reads the first lines of d, at most n, as a list of matches below headings.
func ReadHeaded(d *Document, n int) *Headed {
	n = min(n, len(d.Lines))
	h := &Headed{places: make([]place, n), heads: make([]int32, n)}
	path, head, last := "", int32(-1), 0
	for i, line := range d.Lines[:n] {
		number, content, isMatch := matchBelow(line)
		ascends := isMatch && (number > last || ByteClass[line[FirstVisible(line)]] != Digit) // the times of a log do not
		name, isHead := "", false
		if !isMatch {
			name, isHead = d.heading(i)
		}
		h.heads[i] = head
		switch {
		case ascends && head >= 0:
			h.places[i] = place{path, number, content}
			last = number
			h.matches++
		case isHead:
			path, head, last = name, int32(i), 0
			h.heads[i] = -1
			h.places[i] = place{Path: path, content: len(line)}
			h.add(path)
		case isSeparator(line) && line != GroupSeparator: // opencode has one after every match, too
			h.heads[i] = -1
			h.places[i] = place{Path: path}
		case i > 0 && isSeparator(d.Lines[i-1]) && d.Lines[i-1] != GroupSeparator && !isMatch: // a notice
			path, head = "", -1
			h.heads[i] = -1
			h.others++
		default:
			h.places[i] = place{Path: path}
			if line != GroupSeparator {
				h.others++
			}
		}
	}
	return h
}

func (h *Headed) add(path string) {
	h.files++
	if strings.ContainsAny(path, "./\\") {
		h.strong++
	}
}

// GroupSeparator stands between matches of one file that are not adjacent, when a search shows lines of context.
const GroupSeparator = "--"

// isSeparator reports whether a line only separates matches or files.
func isSeparator(line string) bool {
	return line == GroupSeparator || line == "---" || strings.TrimSpace(line) == ""
}

// matchBelow reads a match that stands below the name of its file. content is the byte offset of the matched text.
func matchBelow(line string) (number, content int, ok bool) {
	at := FirstVisible(line)
	rest := line[at:]
	for _, mark := range []string{"Line ", "L"} {
		if after, found := strings.CutPrefix(rest, mark); found {
			at, rest = at+len(mark), after
			break
		}
	}
	end := 0
	for end < len(rest) && ByteClass[rest[end]] == Digit {
		number = min(number*10+int(rest[end]-'0'), 1<<30)
		end++
	}
	if end == 0 || end == len(rest) || strings.IndexByte(":-=", rest[end]) < 0 {
		return 0, 0, false
	}
	return number, at + end + 1, true
}

// NumberedMatch is a line that a search in one file found, or one around it.
type NumberedMatch struct {
	Number int  // of the line; 0: it has none
	Match  bool // a colon follows the number
}

// NumberedMatches reads the lines of a search in one file, which names it nowhere: "12:match", "13-line of context". It
// returns nil for a text that is something else, or has no lines of context.
func (d *Document) NumberedMatches() []NumberedMatch {
	list := make([]NumberedMatch, len(d.Lines))
	matches, around, others := 0, 0, 0
	for i, line := range d.Lines {
		number, content, ok := matchBelow(line)
		switch {
		case line == GroupSeparator || line == "":
		case !ok || ByteClass[line[0]] != Digit || line[content-1] == '=':
			if others++; others > mostOthers {
				return nil
			}
		case line[content-1] == ':':
			list[i] = NumberedMatch{number, true}
			matches++
		default:
			list[i] = NumberedMatch{number, false}
			around++
		}
	}
	if matches == 0 || around < 2 {
		return nil
	}
	return list
}

// mostOthers is the number of lines that a client may add to what a search in one file found.
const mostOthers = 6

// heading returns the file that line i names as the heading of the match on the next line.
func (d *Document) heading(i int) (name string, ok bool) {
	line := d.Lines[i]
	if line == "" || len(line) > LongestPath || line[0] == ' ' || line[0] == '\t' {
		return "", false
	}
	if _, _, ok := matchBelow(d.Next(i)); !ok {
		return "", false
	}
	name, marked := strings.CutPrefix(line, "File: ")
	name, colon := strings.CutSuffix(name, ":")
	if open := strings.LastIndex(name, " ("); open > 0 && strings.HasSuffix(name, ")") { // b.go (3 matches)
		name = name[:open]
	}
	// A path may contain spaces where the form of the line says that it is one.
	return name, name != "" && (PathShaped(name) || (marked || colon) && strings.ContainsAny(name, "/\\"))
}

// Names reports whether line i of a list of matches is the heading of others.
func (d *Document) Names(i int) bool {
	return d.Heads != nil && d.Places[i].Path != "" && d.Places[i].Number == 0 && i+1 < len(d.Heads) && int(d.Heads[i+1]) == i
}

// Separates reports whether line i of a list of matches below headings only separates matches or files.
func (d *Document) Separates(i int) bool { return d.Heads != nil && isSeparator(d.Lines[i]) }

// Notice reports whether line i of a list of matches below headings is neither a heading nor below one: the search says
// how much it found.
func (d *Document) Notice(i int) bool {
	return d.Heads != nil && d.Places[i].Path == "" && !isSeparator(d.Lines[i])
}

// Says reports whether line i is not blank and, in a list of matches below headings, is part of a match.
func (d *Document) Says(i int) bool { return !d.Blank(i) && (d.Heads == nil || d.Heads[i] >= 0) }

// Flat returns the lines of a list of matches below headings in the form in which every match names its own file, and
// those of any other text as they are.
func (d *Document) Flat() []string {
	if d.Heads == nil {
		return d.Lines
	}
	flat := make([]string, len(d.Lines))
	for i, p := range d.Places {
		switch {
		case p.Number > 0:
			flat[i] = p.Path + ":" + strconv.Itoa(p.Number) + ":" + d.Lines[i][p.content:]
		case d.Names(i):
			flat[i] = p.Path + ":"
		default:
			flat[i] = d.Lines[i]
		}
	}
	return flat
}
