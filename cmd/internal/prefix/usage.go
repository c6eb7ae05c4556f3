package prefix

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// UsageDays is for how long back sessions count.
const UsageDays = 90

// usage counts the uses of parts in the sessions.
type usage struct {
	*sessions.PartUse

	Share float64 // of the bill that the fixed prefix cost, from 0 to 1; 0 if it is not known
}

// UsageOptions say which sessions count.
type UsageOptions struct {
	Client *agent.Client
	Lookup func(string) (string, bool)
	Folder string // only sessions of this folder; "": all
	Now    time.Time
	Since  time.Time // zero: Days before Now
}

// UsageOf reads the sessions of the last days. What cannot be read counts as nothing.
func UsageOf(ctx context.Context, o UsageOptions) (usage, error) {
	u := usage{PartUse: sessions.NewPartUse()}
	var prefixes, bills float64
	err := o.each(ctx, func(s sessions.Session) {
		u.Add(s)
		b := sessions.Billed(s, nil)
		if b.Measured {
			contents, _ := b.Contents()
			prefixes, bills = prefixes+contents[sessions.Prefix].Sum(), bills+b.Total
		}
	})
	if bills > 0 {
		u.Share = prefixes / bills
	}
	return u, err
}

// usedParts returns the parts that the sessions called. Sessions that cannot be read are left out.
func usedParts(ctx context.Context, o UsageOptions) (parts []sessions.Part) {
	_ = o.each(ctx, func(s sessions.Session) { parts = append(parts, sessions.CalledParts(s)...) })
	return parts
}

// each calls a function for each session, with the steps of its sub-agents.
func (o UsageOptions) each(ctx context.Context, yield func(sessions.Session)) error {
	groups, order, err := o.files()
	if err != nil {
		return err
	}
	for _, name := range order {
		var whole sessions.Session
		for _, path := range groups[name] {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			alone := len(groups[name]) == 1                                   // such as a database with many sessions
			_ = sessions.ReadFile(ctx, path, func(s sessions.Session) error { // lines that cannot be read are skipped
				switch {
				case alone:
					o.take(s, yield)
				case whole.ID == "":
					whole = s
				default:
					whole.Steps = append(whole.Steps, s.Steps...)
				}
				return nil
			})
		}
		if whole.ID != "" {
			o.take(whole, yield)
		}
	}
	return nil
}

// take yields a session if it counts, with the tools that its model called by code.
func (o UsageOptions) take(s sessions.Session, yield func(sessions.Session)) {
	if o.Folder != "" && s.Project != o.Folder || !s.Begun.IsZero() && s.Begun.Before(o.since()) {
		return
	}
	if o.Client.Prefix.Nested != nil {
		s.Steps = nestedSteps(s.Steps, o.Client.Prefix.Nested())
	}
	yield(s)
}

func nestedSteps(steps []sessions.Step, calls *regexp.Regexp) []sessions.Step {
	for _, step := range steps {
		if step.Kind != sessions.Use {
			continue
		}
		for _, arg := range step.Args {
			code, _ := arg.(string)
			for _, m := range calls.FindAllStringSubmatch(code, -1) {
				steps = append(steps, sessions.Step{Kind: sessions.Use, Tool: m[1]})
			}
		}
	}
	return steps
}

func (o UsageOptions) since() time.Time {
	if !o.Since.IsZero() {
		return o.Since
	}
	return o.Now.AddDate(0, 0, -UsageDays)
}

// files returns the newer transcripts by session, the session's own before those of its sub-agents, and the order.
func (o UsageOptions) files() (groups map[string][]string, order []string, err error) {
	groups = map[string][]string{}
	paths, err := setup.Home{Lookup: o.Lookup}.Transcripts(o.Client)
	if err != nil {
		return nil, nil, err
	}
	files, _ := sessions.Files(paths) // they exist
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil || info.ModTime().Before(o.since()) {
			continue
		}
		name := strings.TrimSuffix(path, ".jsonl")
		if at := strings.LastIndex(name, string(filepath.Separator)+"subagents"+string(filepath.Separator)); at >= 0 {
			name = name[:at]
		}
		if groups[name] == nil {
			order = append(order, name)
		}
		if name+".jsonl" == path {
			groups[name] = append([]string{path}, groups[name]...)
			continue
		}
		groups[name] = append(groups[name], path)
	}
	return groups, order, nil
}
