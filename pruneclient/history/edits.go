package history

import (
	"hash/fnv"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// edits has for each file, by its cleaned path, the lines that the agent's own edits put in and took out.
type edits map[string]map[uint64]count

// count is how often edits put a line into a file and took it out. A line that one edit only repeats does not count.
type count struct{ in, out int }

// mostEdited bounds the number of different lines that are remembered of a file. What is not remembered was edited by somebody else.
const mostEdited = 10_000

// note adds one edit of a file. all says that it was written whole, so that nothing of it is left from before.
func (e edits) note(file string, r Replacement, all bool) {
	file = clean(file)
	if e[file] == nil || all {
		e[file] = map[uint64]count{}
	}
	balance := map[uint64]int{}
	for line := range strings.SplitSeq(r.New, "\n") {
		balance[hashOf(line)]++
	}
	for line := range strings.SplitSeq(r.Old, "\n") {
		balance[hashOf(line)]--
	}
	for line, n := range balance {
		c, known := e[file][line]
		if !known && len(e[file]) >= mostEdited {
			continue
		}
		e[file][line] = count{c.in + max(n, 0), c.out + max(-n, 0)}
	}
}

// of returns what is known of a file, which a diff names by its path in the repository.
func (e edits) of(file string) map[uint64]count {
	all := map[uint64]count{}
	for name, lines := range e {
		if !Same(name, file) {
			continue
		}
		for line, c := range lines {
			all[line] = count{all[line].in + c.in, all[line].out + c.out}
		}
	}
	return all
}

func hashOf(line string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.TrimSuffix(line, "\r")))
	return h.Sum64()
}

// OwnHunks returns, of a diff of changes that are not committed, the hunks that consist of the agent's own edits since the
// context began: their edits put in every added line, took out every removed one, and the diff has no line more often than they did
// so. Each hunk is its first and its last line after the line "@@", counted from 1. It returns nil for the output of any other call.
func (l *Log) OwnHunks(c ToolCall, lines []string) (own [][2]int) {
	args, ok := c.diffArgs()
	if !ok || len(l.edits) == 0 {
		return nil
	}
	hunks := hunksOf(lines)
	for _, arg := range args {
		if !slices.ContainsFunc(hunks, func(h hunk) bool { return under(h.file, arg) }) {
			return nil // a revision, not a file
		}
	}
	total := map[string]map[uint64]int{}
	for _, h := range hunks {
		if total[h.file] == nil {
			total[h.file] = map[uint64]int{}
		}
		for i := h.from; i <= h.to; i++ {
			total[h.file][hashOf(rest(lines[i-1]))] += sign(lines[i-1])
		}
	}
	for _, h := range hunks {
		if h.file != "" && h.whole && h.by(l.edits.of(h.file), total[h.file], lines) {
			own = append(own, [2]int{h.from, h.to})
		}
	}
	return own
}

// diffArgs returns the arguments of the diffs in a command that name files or revisions. ok is false if it shows no diff of changes
// that are not committed, or another one beside it, or asks for what stands around the changes.
func (c ToolCall) diffArgs() (args []string, ok bool) {
	if c.Kind != Bash {
		return nil, false
	}
	for _, words := range slices.Concat(session.Pipelines(c.Command)...) {
		if words[0] != "git" {
			continue
		}
		verb, rest := gitVerb(words[1:])
		switch verb {
		case "status", "add", "branch", "rev-parse":
		case "log":
			if slices.ContainsFunc(rest, func(arg string) bool { return patches().MatchString(arg) }) {
				return nil, false
			}
		case "diff":
			ok = true
			for _, arg := range rest {
				switch {
				case strings.HasPrefix(arg, "-U"), strings.HasPrefix(arg, "--unified"), arg == "-W", arg == "--function-context":
					return nil, false
				case !strings.HasPrefix(arg, "-") && arg != "HEAD" && arg != ".":
					args = append(args, arg)
				}
			}
		default:
			return nil, false
		}
	}
	return args, ok
}

// patches matches the options by which git log shows diffs.
var patches = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:-[puLcm]|--(?:patch|unified|cc|raw|word-diff))`) })

func gitVerb(words []string) (verb string, args []string) {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		if words[0] == "-C" || words[0] == "-c" {
			words = words[min(1, len(words)):]
		}
		words = words[min(1, len(words)):]
	}
	if len(words) == 0 {
		return "", nil
	}
	return words[0], words[1:]
}

// under reports whether a file of a diff is the one that an argument names, or in its folder.
func under(file, arg string) bool {
	if matched, _ := path.Match(arg, file); matched || Same(arg, file) {
		return true
	}
	folder := strings.TrimPrefix(clean(arg), "./")
	return folder != "" && strings.Contains("/"+file, "/"+folder+"/")
}

type hunk struct {
	file     string // "" if it was deleted
	from, to int    // lines after the line "@@", counted from 1
	whole    bool   // it has as many lines as it says
}

var hunkHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`) })

func hunksOf(lines []string) (hunks []hunk) {
	file := ""
	for i := 0; i < len(lines); i++ {
		if name, ok := strings.CutPrefix(lines[i], "+++ "); ok {
			file = ""
			if _, name, ok = strings.Cut(strings.TrimRight(name, "\t\r"), "/"); ok && lines[i] != "+++ /dev/null" {
				file = name
			}
			continue
		}
		m := hunkHead().FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		h := hunk{file: file, from: i + 2}
		before, after := lengthOf(m[1]), lengthOf(m[2])
		for i+1 < len(lines) && (before > 0 || after > 0 || strings.HasPrefix(lines[i+1], `\`)) {
			switch s := sign(lines[i+1]); {
			case s > 0:
				after--
			case s < 0:
				before--
			case lines[i+1] == "" || lines[i+1][0] == ' ':
				before, after = before-1, after-1
			case lines[i+1][0] != '\\':
				before, after = -1, -1
				continue
			}
			i++
		}
		h.to, h.whole = i+1, before == 0 && after == 0
		hunks = append(hunks, h)
	}
	return hunks
}

func lengthOf(digits string) int {
	if digits == "" {
		return 1
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}

// sign returns 1 for an added line of a hunk, -1 for a removed one.
func sign(line string) int {
	switch {
	case strings.HasPrefix(line, "+"):
		return 1
	case strings.HasPrefix(line, "-"):
		return -1
	}
	return 0
}

// rest returns a line of a hunk without its sign.
func rest(line string) string { return line[min(1, len(line)):] }

// by reports whether edits made a hunk. total is how often more the whole diff of the file has a line added than removed.
func (h hunk) by(edited map[uint64]count, total map[uint64]int, lines []string) bool {
	changes := false
	for _, line := range lines[h.from-1 : h.to] {
		s := sign(line)
		if s == 0 {
			continue
		}
		changes = true
		id := hashOf(rest(line))
		c, n := edited[id], total[id]
		net := c.in - c.out
		if s > 0 && c.in == 0 || s < 0 && c.out == 0 || n > max(net, 0) || n < min(net, 0) {
			return false
		}
	}
	return changes
}
