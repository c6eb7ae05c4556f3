package usage

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// First returns the tokens of the prompt with which the user's newest session began, as the client's API counted them. ok is
// false if no transcript says it.
func First(ctx context.Context, o Options) (tokens int, ok bool) {
	groups, order, err := o.files()
	if err != nil {
		return 0, false
	}
	var newest string
	var at time.Time
	for _, name := range order {
		if info, err := os.Stat(groups[name][0]); err == nil && info.ModTime().After(at) {
			newest, at = groups[name][0], info.ModTime()
		}
	}
	if newest == "" {
		return 0, false
	}
	begun := time.Time{}
	_ = sessions.ReadFile(ctx, newest, func(s sessions.Session) error { // what cannot be read says nothing
		for _, step := range s.Steps {
			if step.Kind == sessions.Call && step.Usage != nil && step.Usage.Prompt() > 0 && !s.Begun.Before(begun) {
				tokens, ok, begun = step.Usage.Prompt(), true, s.Begun
				break
			}
		}
		return nil
	})
	return tokens, ok
}

// Line says in one line what the prefix costs and how to see it; "" for a client of which nothing is known. It starts no client.
func Line(ctx context.Context, o Options) string {
	if o.Client.Prefix == nil {
		return ""
	}
	if tokens, ok := First(ctx, o); ok {
		return fmt.Sprintf("Your newest session of %s began with %d tokens, paid with every call: \"mcp-pruner context %s\" shows what they are.\n",
			o.Client.Title, tokens, o.Client.Name)
	}
	return fmt.Sprintf("%s sends %d tokens and more before your first word, with every call: \"mcp-pruner context %s\" shows what they are.\n",
		o.Client.Title, o.Client.Prefix.Tokens, o.Client.Name)
}
