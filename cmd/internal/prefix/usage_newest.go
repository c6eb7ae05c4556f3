package prefix

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// FirstCall returns the tokens of the prompt with which the user's newest session began, as the client's API counted them: of the
// folder's sessions, if the options name one. ok is false if that transcript does not say it.
func FirstCall(ctx context.Context, o UsageOptions) (tokens int, ok bool) {
	groups, order, err := o.files()
	if err != nil {
		return 0, false
	}
	changed := map[string]time.Time{}
	for _, name := range order {
		if info, err := os.Stat(groups[name][0]); err == nil {
			changed[name] = info.ModTime()
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return changed[b].Compare(changed[a]) })
	for _, name := range order {
		if tokens, found := o.first(ctx, groups[name][0]); found {
			return tokens, tokens > 0
		}
	}
	return 0, false
}

// first returns the tokens with which the newest session in a file began, 0 if they are not known. found is false if the file has
// no session that counts.
func (o UsageOptions) first(ctx context.Context, path string) (tokens int, found bool) {
	var begun time.Time
	_ = sessions.ReadFile(ctx, path, func(s sessions.Session) error { // what cannot be read says nothing
		if o.Folder != "" && s.Project != o.Folder || s.Begun.Before(begun) {
			return nil
		}
		tokens, found, begun = 0, true, s.Begun
		for _, step := range s.Steps {
			if step.Kind == sessions.Call && step.Usage != nil && step.Usage.Prompt() > 0 {
				tokens = step.Usage.Prompt()
				break
			}
		}
		return nil
	})
	return tokens, found
}

// UsageLine says in one line what the prefix costs and how to see it; "" for a client of which nothing is known. It starts no client.
func UsageLine(ctx context.Context, o UsageOptions) string {
	if o.Client.Prefix == nil {
		return ""
	}
	if tokens, ok := FirstCall(ctx, o); ok {
		return fmt.Sprintf("Your newest session of %s began with %d tokens, paid with every call: \"mcp-pruner context %s\" shows what they are.\n",
			o.Client.Title, tokens, o.Client.Name)
	}
	return fmt.Sprintf("%s sends %d tokens and more before your first word, with every call: \"mcp-pruner context %s\" shows what they are.\n",
		o.Client.Title, o.Client.Prefix.Tokens, o.Client.Name)
}
