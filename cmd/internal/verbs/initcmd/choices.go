package initcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// found is a client on this machine that init can set up.
type found struct {
	*agent.Client
	where string
}

// choice is one thing that init offers to set up.
type choice struct {
	client found
	part   replay.Policy // "": what the flags say, or what works with the client's model
	line   string
	sure   bool // Enter and --yes take it
}

// choicesIn lists what can be set up in each client. Where its user has recorded enough sessions these are the parts of the program with
// what each would have saved there, best first. asWanted says that flags choose: then it is one choice for each client.
func choicesIn(ctx context.Context, p command.Process, list []found, asWanted bool) (all []choice) {
	for _, c := range list {
		var offers []replay.Offer
		if !asWanted {
			offers = offersIn(ctx, p, c)
		}
		for _, offer := range offers {
			if do := turnOn(c.Client, offer.Policy); do != "" && offer.Net > 0 {
				all = append(all, choice{client: c, part: offer.Policy, line: figures(offer), sure: sure(offer)})
			}
		}
		if len(offers) == 0 {
			all = append(all, choice{client: c, line: unmeasured(c, asWanted), sure: true})
		}
	}
	return all
}

// unmeasured says what is set up in a client of whose sessions there are no figures.
func unmeasured(c found, asWanted bool) string {
	const why = "; too few sessions to say what pays (later: mcp-pruner try)"
	switch {
	case asWanted:
		return "what the flags say"
	case c.ModelList != nil:
		return "the proxy, and hooks if its model lets them work" + why
	}
	return "hooks" + why
}

// offersIn returns the parts of the program with what each would have saved in the user's sessions of a client; none if these are too
// few to say.
func offersIn(ctx context.Context, p command.Process, c found) []replay.Offer {
	paths, err := setup.Home{Lookup: p.Lookup}.Transcripts(c.Client)
	if err != nil || len(paths) == 0 {
		return nil
	}
	advice, _, _, err := Advise(ctx, p, paths)
	if err != nil {
		return nil // nothing was recorded that can be read: what works with the model is set up
	}
	for _, a := range advice {
		if a.Client == c.Name && a.Sessions >= replay.EnoughSessions {
			return a.Offers
		}
	}
	return nil
}

// ask prints the choices and returns those that the user takes. With yes they are those that pay without a doubt.
func ask(p command.Process, all []choice, yes bool) (chosen []choice, err error) {
	var sure []choice
	var numbers []string
	for i, c := range all {
		if c.sure {
			sure, numbers = append(sure, c), append(numbers, strconv.Itoa(i+1))
		}
	}
	writeChoices(p.Stdout, all)
	if yes {
		if len(sure) == 0 {
			return nil, errors.New("in your sessions none of this pays without a doubt; nothing was changed. To set one up all the same, name the client: mcp-pruner init " + all[0].client.Name)
		}
		return sure, nil
	}
	enter := "none"
	if len(sure) > 0 {
		enter = strings.Join(numbers, " ")
	}
	_, _ = fmt.Fprintf(p.Stdout, "Which are to be set up? Numbers, Enter for %s, n for none: ", enter)
	line, err := bufio.NewReader(p.Stdin).ReadString('\n')
	if err != nil && line == "" {
		return nil, errors.New("no answer: nothing was changed")
	}
	return picked(all, sure, line)
}

// writeChoices lists the choices by client, numbered from 1.
func writeChoices(w io.Writer, all []choice) {
	said := "Found:"
	if slices.ContainsFunc(all, func(c choice) bool { return c.part != "" }) {
		said = "Found. Percent are what each part would have saved of the bill of your latest sessions, misses paid (in brackets: twice).\n" + Estimated
	}
	_, _ = fmt.Fprintln(w, said)
	last := ""
	for i, c := range all {
		if c.client.Name != last {
			last = c.client.Name
			_, _ = fmt.Fprintf(w, "%s (%s)\n", c.client.Title, c.client.where)
		}
		_, _ = fmt.Fprintf(w, "  %d  %s\n", i+1, c.line)
	}
}

// picked returns the choices that an answer selects.
func picked(all, sure []choice, answer string) (chosen []choice, err error) {
	words := strings.FieldsFunc(strings.ToLower(answer), func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\r' || r == '\n' })
	switch {
	case len(words) == 0 && len(sure) == 0:
		return nil, errors.New("nothing was changed")
	case len(words) == 0, words[0] == "y", words[0] == "yes":
		return sure, nil
	case words[0] == "all":
		return all, nil
	case words[0] == "n", words[0] == "no", words[0] == "none":
		return nil, errors.New("nothing was changed")
	}
	for _, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(all) {
			return nil, command.Usagef("%q is none of the numbers 1 to %d", word, len(all))
		}
		if !slices.Contains(chosen, all[n-1]) {
			chosen = append(chosen, all[n-1])
		}
	}
	return chosen, nil
}
