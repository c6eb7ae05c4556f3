package initcmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// rulePiece returns the rule of a client for this program. An error says why it cannot or need not be added.
func (h home) rulePiece(client string) (piece, error) {
	path, err := hook.LastingPath(h.Lookup)
	if err != nil {
		return piece{}, err
	}
	r, ok, err := hook.BackRuleFor(client, path, h.Home)
	if err != nil {
		return piece{}, err
	}
	p := filePiece(rule, r.File, r.Text, func(now []byte) bool { return r.Wholly(string(now)) })
	p.text = r.Text
	if r.Path != nil {
		p = memberRule(r)
	}
	if !ok {
		return p, fmt.Errorf("a rule of %s cannot name %s: move the program to a path without spaces and quotes", client, path)
	}
	if text, err := p.file.Read(); err == nil && r.Asked != nil && !p.present(text) {
		return p, asked(client, text, r)
	}
	return p, nil
}

// asked returns nil if the client asks the user before it runs recover, so that a rule is of use. It returns errNotAsked if
// the client never asks, and another error if the rule cannot be written.
func asked(client string, text []byte, r hook.BackRule) error {
	j, err := setup.ParseJSON(text)
	if err != nil {
		return err
	}
	switch asks, first := r.Asked(j.Get); {
	case !asks:
		return fmt.Errorf("%s %w", client, errNotAsked)
	case first != "":
		return fmt.Errorf("%s has no list of commands to which a rule could be added: %s", r.File.Path, first)
	}
	return nil
}

var errNotAsked = errors.New("runs commands without asking, so that it needs no rule")

// memberRule is a piece that is an element or a member of a JSON file.
func memberRule(r hook.BackRule) piece {
	where := strings.Join(r.Path, ".")
	p := piece{kind: rule, file: r.File, text: fmt.Sprintf("in %s: %q", where, r.Text)}
	if !r.List {
		p.text = fmt.Sprintf("in %s: %q: \"allow\"", where, r.Text)
	}
	p.install = edits(func(j *setup.JSON) error {
		if slices.Contains(ownRules(j, r), r.Text) {
			return nil
		}
		dropRules(j, r) // of a program that was moved
		if r.List {
			return j.Append(r.Text, r.Path...)
		}
		return j.Set("allow", append(slices.Clone(r.Path), r.Text)...)
	})
	p.remove = takesOut(func(j *setup.JSON) { dropRules(j, r) })
	p.present = finds(func(j *setup.JSON) bool { return len(ownRules(j, r)) > 0 })
	return p
}

// ownRules lists the rules of a file that allow recover for a program of this name.
func ownRules(j *setup.JSON, r hook.BackRule) (found []string) {
	switch value := j.Get(r.Path...).(type) {
	case []any:
		for _, v := range value {
			if text, ok := v.(string); ok && r.List && r.Ours(text) {
				found = append(found, text)
			}
		}
	case map[string]any:
		for name, action := range value {
			if !r.List && action == "allow" && r.Ours(name) {
				found = append(found, name)
			}
		}
	}
	return found
}

func dropRules(j *setup.JSON, r hook.BackRule) {
	if r.List {
		j.RemoveElements(func(v any) bool { text, ok := v.(string); return ok && r.Ours(text) }, r.Path...)
		return
	}
	for _, name := range ownRules(j, r) {
		j.Remove(append(slices.Clone(r.Path), name)...)
	}
}

// offer says how the model may bring results back without a question each time, and asks whether to allow it. It reports
// whether a person on a terminal said yes.
func offer(p command.Process, w *bufio.Writer, client string, r piece, yes bool) bool {
	fmt.Fprintf(w, "A cut result names the command that brings it back. %s before its model runs it, unless %s has this rule:\n  %s\n",
		agent.Named(client).Rule.Asks, r.file.Path, strings.ReplaceAll(strings.TrimSpace(r.text), "\n", "\n  "))
	if yes || !command.IsTerminal(p.Stdin) || !command.IsTerminal(p.Stdout) {
		fmt.Fprintf(w, "To write it: mcp-pruner init %s --allow-recover\n", client)
		return false
	}
	fmt.Fprint(w, "Write it? [y/N] ")
	return w.Flush() == nil && agrees(p.Stdin)
}

// agrees reports whether an answer is an explicit yes.
func agrees(r io.Reader) bool {
	answer, err := bufio.NewReader(r).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return err == nil && (answer == "y" || answer == "yes")
}

// permit writes the rule, or says what it would be. It does so where something is cut, and if a flag asks for the rule. err
// is the reason why the rule cannot or need not be added.
func (o options) permit(p command.Process, h home, w *bufio.Writer, client string, all, chosen []piece, err error) error {
	cuts := slices.ContainsFunc(chosen, func(p piece) bool { return p.kind == hooks || p.kind == proxy })
	if !cuts && !o.allowRecover {
		return nil
	}
	switch {
	case errors.Is(err, errNotAsked):
		if o.allowRecover {
			fmt.Fprintln(w, "rule:", err)
		}
		return nil
	case err != nil && o.allowRecover:
		return err
	case err != nil:
		fmt.Fprintln(w, "rule:", err)
		return nil
	}
	r := all[len(all)-1]
	if !o.allowRecover && (r.installed() || !offer(p, w, client, r, o.yes)) {
		return nil
	}
	if err := hook.MakeLink(h.Lookup); err != nil {
		return err
	}
	_, err = install(w, all, []piece{r})
	return err
}
