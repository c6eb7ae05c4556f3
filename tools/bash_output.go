package tools

import (
	"fmt"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// shareCap fits both streams into one limit. Each stream was kept up to the whole limit, so
// the result does not depend on which printed first: stdout gets three quarters and stderr
// one, and each may use what the other leaves.
func shareCap(stdout, stderr *files.Sink, limit int) (out, errs string, truncated bool) {
	stdout.End()
	stderr.End()
	room := max(limit/4, limit-len(stdout.Text))
	e := files.CutRune(stderr.Text, room)
	o := files.CutRune(stdout.Text, limit-len(e))
	truncated = stdout.Truncated || stderr.Truncated || len(o) < len(stdout.Text) || len(e) < len(stderr.Text)
	return string(o), string(e), truncated
}

// bashOutput is the output of a command, in the shape of the design.
type bashOutput struct {
	Tool      string `json:"tool"`
	Command   string `json:"command"`
	Cwd       string `json:"cwd"`
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	ExitCode  int    `json:"exit_code"`
	TimedOut  bool   `json:"timed_out"`
	Truncated bool   `json:"truncated"`
	Duration  int64  `json:"duration_ms"`
	Pruning   any    `json:"pruning"`

	explicit bool   // the call set its own output limit
	emptied  string // the stream of which a pruner kept nothing
	storedAs string // id under which the pruned stream is stored whole
	pruned   bool   // the stream that Code returns was pruned

	gaps   []string // parts left out by a limit, as stream and lines
	torn   bool     // a gap begins within a line
	grep   bool     // the tool grep is offered
	rest   string   // the streams that were cut, before the cut
	restAs string   // id under which rest is stored

	written *bashOutput // the output as the command wrote it, if it overwrote lines and this has their last states; else nil
}

// withLastStates returns the output with the last states of the lines that the command overwrote, as a terminal shows it.
func (o *bashOutput) withLastStates() *bashOutput {
	p := *o
	p.Stdout, p.Stderr = terminal.LastStates(o.Stdout), terminal.LastStates(o.Stderr)
	if len(p.Stdout)+len(p.Stderr)+terminal.LeastSaved > len(o.Stdout)+len(o.Stderr) {
		return o
	}
	p.written = o
	return &p
}

// Unstored returns the output to show if what it lacks cannot be stored.
func (o *bashOutput) Unstored() Output {
	if o.written == nil || o.pruned {
		return o
	}
	return o.written
}

// WithOriginal records the id under which the whole output is stored.
func (o *bashOutput) WithOriginal(id string) Output {
	p := *o
	p.storedAs = id
	return &p
}

// Rest returns the streams that were cut: running the command again may give another
// output.
func (o *bashOutput) Rest() string { return o.rest }

// WithRest records the id under which the rest is stored.
func (o *bashOutput) WithRest(id string) Output {
	p := *o
	p.restAs = id
	return &p
}

// Shares of a limit in percent: for the other stream if both have output, and for the
// beginning of a stream, whose end matters most.
const (
	errorsShare = 25
	headShare   = 40
)

// Shown returns the fraction of the output that Cut would keep.
func (o *bashOutput) Shown(limit Limit) float64 {
	if o.explicit {
		return 1
	}
	return limit.fraction(o.Stdout + o.Stderr)
}

// Cut keeps the beginning and the end of each stream.
func (o *bashOutput) Cut(limit Limit) (Output, bool) {
	p := *o
	if o.written != nil {
		p.rest = joined(o.written.Stdout, o.written.Stderr)
	}
	if o.explicit || limit.fits(o.Stdout+o.Stderr) {
		return &p, o.written != nil
	}
	forOut, forErr := limit, limit
	switch small := limit.share(errorsShare); {
	case o.Stdout == "" || o.Stderr == "":
	case small.fits(o.Stderr):
		forOut = limit.share(100 - errorsShare)
	case small.fits(o.Stdout):
		forErr = limit.share(100 - errorsShare)
	default:
		forOut, forErr = limit.share(100-errorsShare), small
	}
	p.Stdout = p.cut("stdout", o.Stdout, forOut, o.pruned)
	p.Stderr = p.cut("stderr", o.Stderr, forErr, o.pruned && o.Stdout == "")
	p.Truncated = true
	return &p, true
}

// cut leaves out the middle of a stream and records the left-out lines by their numbers in
// the stored text. A pruned stream is stored already, with other line numbers.
func (o *bashOutput) cut(name, text string, limit Limit, pruned bool) string {
	if limit.fits(text) {
		return text
	}
	before := 0
	switch {
	case pruned:
	case o.written == nil:
		before = CountLines(o.rest)
		o.rest = joined(o.rest, text)
	case name == "stderr": // the rest has both streams
		before = CountLines(o.written.Stdout)
	}
	head := limit.share(headShare).head(text)
	tail := head + limit.share(100-headShare).tail(text[head:])
	lead := text[:head]
	g := gap{first: before + strings.Count(lead, "\n") + 1, last: before + CountLines(text[:tail])}
	if g.torn = lead != "" && !strings.HasSuffix(lead, "\n"); g.torn {
		lead += "\n"
	}
	o.torn = o.torn || g.torn
	if pruned {
		o.gaps = append(o.gaps, g.more()+" of the pruned "+name+readIt(o.storedAs, "all"))
		return lead + "...\n" + text[tail:]
	}
	o.gaps = append(o.gaps, fmt.Sprintf("%s of %d", g.lines(name+" "), before+CountLines(text)))
	return lead + g.mark() + "\n" + text[tail:]
}

// gap is the lines first to last of a stream, which are left out. If it is torn, the beginning of the first one is shown.
type gap struct {
	first, last int
	torn        bool
}

// mark returns what stands in the place of the gap.
func (g gap) mark() string {
	switch {
	case !g.torn:
		return fmt.Sprintf("... %d-%d", g.first, g.last)
	case g.first == g.last:
		return fmt.Sprintf("... the rest of line %d", g.first)
	}
	return fmt.Sprintf("... the rest of line %d, %d-%d", g.first, g.first+1, g.last)
}

func (g gap) lines(stream string) string {
	switch {
	case !g.torn:
		return fmt.Sprintf("%slines %d-%d", stream, g.first, g.last)
	case g.first == g.last:
		return fmt.Sprintf("the rest of %sline %d", stream, g.first)
	}
	return fmt.Sprintf("the rest of %sline %d and lines %d-%d", stream, g.first, g.first+1, g.last)
}

func (g gap) more() string {
	switch n := g.last - g.first; {
	case !g.torn:
		return fmt.Sprintf("%d more lines", n+1)
	case n == 0:
		return "the rest of a line"
	default:
		return fmt.Sprintf("the rest of a line and %d more lines", n)
	}
}

// joined returns two texts, the second on a line of its own.
func joined(first, second string) string {
	if first != "" && second != "" && !strings.HasSuffix(first, "\n") {
		first += "\n"
	}
	return first + second
}

func (o *bashOutput) failure(code, message string) *Error {
	if o.Truncated {
		message += "; output cut"
	}
	return &Error{Code: code, Message: message, Stdout: &o.Stdout, Stderr: &o.Stderr}
}

func (o *bashOutput) Code() string {
	if o.Stdout != "" {
		return o.Stdout
	}
	return o.Stderr
}

func (o *bashOutput) Source() Source { return Source{Command: o.Command} }

func (o *bashOutput) Prune(pruned string) (Output, error) {
	p := *o
	name, stream := "stdout", &p.Stdout
	if o.Stdout == "" {
		name, stream = "stderr", &p.Stderr
	}
	p.pruned = *stream != pruned
	*stream = pruned
	if blank(pruned) {
		p.emptied = name
	}
	return &p, nil
}

func (o *bashOutput) Text() string {
	if o.Stdout == "" && o.emptied == "stdout" && o.Stderr != "" {
		return stderrMark + o.Stderr // there were two streams
	}
	return joinStreams(o.Stdout, o.Stderr)
}

// Notice returns the facts that a client would miss if it showed only the text.
func (o *bashOutput) Notice() string {
	var said []string
	if o.ExitCode != 0 {
		said = append(said, fmt.Sprintf("exit code %d", o.ExitCode))
	}
	switch {
	case len(o.gaps) == 0 && o.written != nil && o.restAs != "":
		said = append(said, "progress shows its last state"+readIt(o.restAs, "all"))
	case len(o.gaps) > 0:
		said = append(said, "not shown: "+strings.Join(o.gaps, ", ")+o.restIs())
	case o.Truncated:
		said = append(said, "output cut at max_output_bytes")
	}
	switch {
	case o.emptied != "":
		said = append(said, keptNone(o.emptied, o.storedAs, ""))
	case o.Stdout == "" && o.Stderr == "":
		said = append(said, "no output")
	}
	return strings.Join(said, "; ")
}

// restIs says how to get what is not shown. Of a line that is longer than a result may be, read shows no more than its beginning.
func (o *bashOutput) restIs() string {
	if o.torn && o.grep && o.restAs != "" {
		return readIt(o.restAs, "more") + ", " + searchIt(o.restAs)
	}
	return readIt(o.restAs, "them, with start_line")
}

func (o *bashOutput) Structured(pruning any) any {
	s := *o
	s.Pruning = pruning
	return s
}
