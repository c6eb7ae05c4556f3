package gateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// Words and characters of the answer.
const (
	wordsOfAction  = 14 // of an action's description
	runesOfHeading = 60 // of a step
	namesOfOthers  = 16 // actions of a tool that are only named
	optionalShown  = 6  // parametersOf of an action that may be missing
)

// foundAnswer returns the definitions of the tools that were found, each written once: the exposed tool's name, and for each action that fits
// the parameters and the beginning of the description.
func foundAnswer(parts []string, found [][]foundTool) string {
	var out strings.Builder
	written := map[*upstream.Exposed]map[*upstream.Action]bool{}
	for i, part := range parts {
		if len(parts) > 1 {
			fmt.Fprintf(&out, "## %s\n", stepHeading(part))
		}
		if len(found[i]) == 0 {
			out.WriteString("no tool fits\n")
		}
		for _, h := range found[i] {
			before := written[h.Tool]
			if before == nil {
				written[h.Tool] = map[*upstream.Action]bool{}
			}
			writeFoundTool(&out, h, written[h.Tool], before != nil)
		}
	}
	return strings.TrimSpace(out.String())
}

func stepHeading(part string) string {
	runes := []rune(strings.Join(strings.Fields(part), " "))
	if len(runes) > runesOfHeading {
		return string(runes[:runesOfHeading]) + "…"
	}
	return string(runes)
}

func writeFoundTool(out *strings.Builder, h foundTool, written map[*upstream.Action]bool, again bool) {
	fresh := slices.DeleteFunc(slices.Clone(h.Actions), func(a *upstream.Action) bool { return written[a] })
	if again && len(fresh) == 0 {
		fmt.Fprintf(out, "- %s, see above\n", h.Tool.Name)
		return
	}
	fmt.Fprintf(out, "- %s", h.Tool.Name)
	for _, a := range fresh {
		written[a] = true
		opening, _ := a.Def.Texts()
		line := upstream.Shorten(opening, wordsOfAction)
		if a.Name == "" {
			fmt.Fprintf(out, "(%s)", parametersOf(a))
		} else {
			fmt.Fprintf(out, "\n  %s", strings.TrimSuffix("action="+a.Name+", "+parametersOf(a), ", "))
		}
		if line != "" {
			out.WriteString(": " + line)
		}
	}
	out.WriteByte('\n')
	if again {
		return
	}
	var others []string
	for i := range h.Tool.Actions {
		if a := &h.Tool.Actions[i]; !written[a] {
			others = append(others, a.Name)
		}
	}
	if len(others) == 0 {
		return
	}
	if n := len(others) - namesOfOthers; n > 0 {
		others = append(others[:namesOfOthers], fmt.Sprintf("and %d more", n))
	}
	fmt.Fprintf(out, "  other actions: %s\n", strings.Join(others, ", "))
}

// parametersOf returns the parameters of an action. Of many optional ones it names the first.
func parametersOf(a *upstream.Action) string {
	all := a.Parameters()
	optional := slices.IndexFunc(all, func(p string) bool { return strings.HasSuffix(p, "?") })
	if optional >= 0 && len(all)-optional > optionalShown {
		all = append(all[:optional+optionalShown:optional+optionalShown], "…")
	}
	return strings.Join(all, ", ")
}
