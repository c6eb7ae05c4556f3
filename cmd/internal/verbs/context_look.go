package verbs

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
)

// contextOptions are the checked command-line options.
type contextOptions struct {
	command.Process
	prefix.Project
	json      bool
	from      string
	save      string
	noServers bool
	trust     bool
	off       bool
	back      bool
	own       bool
	names     []string // of what is switched off
}

// contextSeen is a prefix with the client's version.
type contextSeen struct {
	prefix.Prefix
	version  string
	complete bool
}

// check refuses options that do not go together.
func (o contextOptions) check() error {
	switch {
	case len(o.names) > 0 && !o.off:
		return command.Usagef("%q is a name for --apply", o.names[0])
	case o.off && o.back:
		return command.Usagef("--apply or --undo?")
	case o.off && o.from != "":
		return command.Usagef("--apply measures before and after; leave out --from")
	case o.off && o.noServers:
		return command.Usagef("--apply measures what a session would have; leave out --no-servers")
	}
	return nil
}

// look returns the prefix of a recorded request, or of one that the client is started for.
func (o contextOptions) look(ctx context.Context) (contextSeen, error) {
	if o.from != "" {
		request, err := recordedRequest(o.Stdin, o.from)
		if err != nil {
			return contextSeen{}, err
		}
		p, err := prefix.PartsOf(o.Client, request, o.Servers(), "")
		return contextSeen{p, "", true}, err
	}
	if err := prefix.Installed(o.Client, o.Env); err != nil {
		return contextSeen{}, err
	}
	if err := o.Reachable(); err != nil {
		return contextSeen{}, err
	}
	if !o.trust {
		if err := o.Trusted(); err != nil {
			return contextSeen{}, err
		}
	}
	return o.start(ctx)
}

// start starts the client after it said what else that starts.
func (o contextOptions) start(ctx context.Context) (contextSeen, error) {
	self, err := os.Executable()
	if err != nil {
		return contextSeen{}, err
	}
	starts := o.Starts()
	if o.noServers {
		starts += "; but no MCP server"
	}
	fmt.Fprintf(o.Stderr, "starting %s once in %s, with %s; no model is asked\n", o.Client.Title, o.Folder, starts)
	got, err := prefix.Capture(ctx, prefix.CaptureOptions{
		Client: o.Client, Folder: o.Folder, Env: o.Env, Keeper: []string{self, keeper.Verb}, NoServers: o.noServers,
	})
	if err != nil {
		return contextSeen{}, err
	}
	if o.save != "" {
		if err := got.Request.Save(o.save); err != nil {
			return contextSeen{}, err
		}
	}
	p, err := prefix.PartsOf(o.Client, got.Request, o.Servers(), got.Prompt)
	return contextSeen{p, got.Version, got.Complete}, err
}

func recordedRequest(stdin io.Reader, path string) (prefix.Request, error) {
	read := func() ([]byte, error) { return os.ReadFile(path) }
	if path == "-" {
		read = func() ([]byte, error) { return io.ReadAll(stdin) }
	}
	text, err := read()
	if err != nil {
		return prefix.Request{}, err
	}
	request, err := prefix.RecordedRequest(text)
	if err != nil {
		return prefix.Request{}, fmt.Errorf("%s: %w", path, err)
	}
	return request, nil
}

// report judges the parts of a prefix by the user's own sessions.
func (o contextOptions) report(ctx context.Context, s contextSeen) (*contextReport, error) {
	lookIn := prefix.UsageOptions{Client: o.Client, Lookup: o.Project.Lookup, Now: time.Now()}
	if o.own {
		lookIn.Folder = o.Folder
	}
	used, err := prefix.UsageOf(ctx, lookIn)
	if err != nil {
		return nil, err
	}
	judged := make([]sessions.Part, len(s.Parts))
	for i, p := range s.Parts {
		judged[i] = p.Part
		judged[i].Decided = o.Decided(p.Part)
	}
	r := &contextReport{Client: o.Client.Name, Version: s.version, Model: s.Model, Tokens: s.Tokens, Complete: s.complete,
		Sessions: used.Sessions(), BillPct: roundPercent(100 * used.Share), client: o.Client}
	r.FirstCall, _ = prefix.FirstCall(ctx, lookIn)
	for i, v := range sessions.Judge(judged, used.PartUse) {
		share := 100 * float64(v.Tokens) / float64(max(s.Tokens, 1))
		r.Parts = append(r.Parts, contextPart{v, roundPercent(share), roundPercent(share * used.Share), s.Parts[i].Sections})
	}
	r.judge(used.PartUse)
	return r, nil
}
