package verbs

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// shownTokens is the size from which the table shows a part by itself.
const shownTokens = 100

// contextGroup has the rows that the table shows under one heading.
type contextGroup struct {
	title string
	parts []contextPart
}

// groups returns the parts by kind, those of MCP servers and plugins by server.
func (r *contextReport) groups() (list []contextGroup) {
	titles := map[sessions.PartKind]string{sessions.SystemPart: "system prompt", sessions.ToolPart: "tools", sessions.MemoryPart: "memory files", sessions.SkillPart: "skills",
		sessions.AgentPart: "agents", sessions.OtherPart: "the rest"}
	at := map[string]int{}
	for _, p := range r.Parts {
		title := titles[p.Kind]
		if p.Server != "" && (p.Kind == sessions.ToolPart || p.Kind == sessions.OtherPart) {
			title = "server " + p.Server
		}
		i, known := at[title]
		if !known {
			i = len(list)
			at[title] = i
			list = append(list, contextGroup{title: title})
		}
		list[i].parts = append(list[i].parts, p)
	}
	return list
}

func (g contextGroup) tokens() (sum int) {
	for _, p := range g.parts {
		sum += p.Tokens
	}
	return sum
}

func (r *contextReport) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s sends %s tokens before your first word", strings.TrimSpace(r.client.Title+" "+r.Version), thousands(r.Tokens))
	if r.BillPct > 0 {
		fmt.Fprintf(&b, "; the prefix cost %.0f %% of the bill of your last %s", r.BillPct, strings.TrimPrefix(terminal.Count(r.Sessions, "session"), "1 "))
	}
	b.WriteString(".\n")
	if r.FirstCall > 0 {
		fmt.Fprintf(&b, "By the vendor's count, your newest session began with %s, your first words among them.\n", thousands(r.FirstCall))
	}
	if !r.Complete {
		fmt.Fprintf(&b, "It did not send the request for a model's turn in time; this is the longest one that it sent.\n")
	}
	b.WriteByte('\n')
	r.table(&b)
	if r.After != nil {
		r.compared(&b)
	} else {
		r.advise(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// table writes the parts with their size and use. Small ones that cannot go by themselves stand together.
func (r *contextReport) table(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "tokens\tshare\tof the bill\tused in\t\t ")
	for _, g := range r.groups() {
		sum := g.tokens()
		share := 100 * float64(sum) / float64(max(r.Tokens, 1))
		fmt.Fprintf(t, "%s\t%.1f %%\t%s\t\t\t %s\n", thousands(sum), share, r.bill(share*r.BillPct/100), g.title)
		if len(g.parts) == 1 && g.parts[0].Name == g.title {
			continue
		}
		r.rows(t, g.parts)
	}
	_ = t.Flush() // writes to memory
}

func (r *contextReport) rows(t io.Writer, list []contextPart) {
	list = slices.SortedFunc(slices.Values(list), func(a, b contextPart) int { return cmp.Compare(b.Tokens, a.Tokens) })
	few, sum := 0, 0
	for _, p := range list {
		if p.Tokens < shownTokens {
			few, sum = few+1, sum+p.Tokens
			continue
		}
		mark := ""
		if p.CanGo {
			mark = "could go"
		}
		fmt.Fprintf(t, "%s\t%.1f %%\t%s\t%s\t%s\t   %s\n", thousands(p.Tokens), p.SharePct, r.bill(p.BillPct), p.use(), mark, p.Name)
		for _, s := range p.Sections {
			if s.Tokens >= shownTokens {
				fmt.Fprintf(t, "%s\t\t\t\t\t     # %s\n", thousands(s.Tokens), s.Name)
			}
		}
	}
	if few > 0 {
		fmt.Fprintf(t, "%s\t\t\t\t\t   %d smaller ones\n", thousands(sum), few)
	}
}

// bill writes a share of the bill, nothing if it is not known.
func (r *contextReport) bill(pct float64) string {
	if r.BillPct == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", pct)
}

func (p contextPart) use() string {
	if p.Seen == 0 || p.Kind == sessions.SystemPart || p.Kind == sessions.MemoryPart {
		return ""
	}
	return fmt.Sprintf("%d of %d", p.Used, p.Seen)
}

// advise names what could go.
func (r *contextReport) advise(b *strings.Builder) {
	var names []string
	sum := 0
	for _, p := range r.Parts {
		if p.CanGo {
			names, sum = append(names, p.Name), sum+p.Tokens
		}
	}
	switch {
	case len(names) > 0:
		fmt.Fprintf(b, "\nNo session used these, %s tokens: %s\n", thousands(sum), strings.Join(names, ", "))
		fmt.Fprintf(b, "mcp-pruner context %s --apply switches them off.\n", r.Client)
	case r.Sessions < sessions.MinSeen:
		fmt.Fprintf(b, "\nWhat could go is said after %d sessions; %d can be read here.\n", sessions.MinSeen, r.Sessions)
	default:
		fmt.Fprintf(b, "\nNothing of %d tokens and more was unused in all of your sessions.\n", sessions.MinPartTokens)
	}
	b.WriteString("Tokens are o200k, estimated; --json shows every part.\n")
}

// compared says what --apply did.
func (r *contextReport) compared(b *strings.Builder) {
	a := r.After
	switch {
	case len(a.Off) > 0:
		fmt.Fprintf(b, "\nSwitched off in %s: %s\n", a.File, strings.Join(a.Off, ", "))
		fmt.Fprintf(b, "Before %s tokens, after %s, as measured: %s fewer (%.0f %%).\n", thousands(r.Tokens), thousands(a.Tokens), thousands(r.Tokens-a.Tokens),
			100*float64(r.Tokens-a.Tokens)/float64(max(r.Tokens, 1)))
		fmt.Fprintf(b, "mcp-pruner context %s --undo switches it on again.\n", r.Client)
	default:
		b.WriteString("\nNothing is switched off.\n")
	}
	if len(a.Without) > 0 {
		fmt.Fprintf(b, "Taken back, because the request still had it: %s\n", strings.Join(a.Without, ", "))
	}
	if len(a.Left) > 0 {
		fmt.Fprintf(b, "Left as it is: %s\n", strings.Join(a.Left, "; "))
	}
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}
