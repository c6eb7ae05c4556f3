package runcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/proxy"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/redirect"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
)

// proxied says that the client's API calls go through a proxy of the run's own.
type proxied struct {
	on     bool
	policy proxy.Policy
	store  string
	show   bool
}

// check refuses options that mean nothing without the proxy.
func (r *request) checkProxied(given func(name string) bool) error {
	switch {
	case r.proxied.on:
		return nil
	case r.inFront:
		return command.Usagef("run %s wants --proxy; to inject the server, use --provider %s", r.provider.Name(), r.provider.Name())
	}
	for _, name := range []string{"policy", "store", "show"} {
		if given(name) {
			return command.Usagef("--%s is for --proxy", name)
		}
	}
	return nil
}

// plan finds out how the client's calls come to a proxy.
func (r *request) plan(o runnerfsm.Options) (redirect.Plan, redirect.Start, error) {
	start := redirect.Start{Env: o.Settings.Env, Dir: o.Settings.Dir, Args: o.ProviderOptions}
	if !slices.Contains(redirect.Clients(), r.provider.Name()) {
		return redirect.Plan{}, start, command.Usagef("%s cannot be run with --proxy: want %s", r.provider.Name(), command.Or(redirect.Clients()))
	}
	plan, err := redirect.Find(r.provider.Name(), start)
	return plan, start, err
}

// proxyFor starts a proxy and changes the options of the run so that the client's calls go to it. end ends the proxy and
// says what it did.
func (r *request) proxyFor(ctx context.Context, p command.Process, o *runnerfsm.Options) (end func() string, err error) {
	plan, start, err := r.plan(*o)
	if err != nil {
		return nil, err
	}
	warnOfStrangers(ctx, p, plan, o.Notes)
	folder, err := runnerfsm.NewSecretFolder()
	if err != nil {
		return nil, fmt.Errorf("a folder for the run's secrets: %w", err)
	}
	p.Env = o.Settings.Env
	running, err := proxy.Start(ctx, p, r.proxyOptions(plan), func(e fsm.Event) { o.Emit(e) })
	if err != nil {
		folder.Remove()
		return nil, fmt.Errorf("start the proxy: %w", err)
	}
	end = func() string {
		defer folder.Remove()
		return said(running.Close())
	}
	change, err := plan.Change(redirect.Proxy{Address: running.Address, Secret: string(running.Secret), Folder: folder.Dir})
	for path, text := range change.Files {
		err = errors.Join(err, os.WriteFile(path, []byte(text), 0o600))
	}
	if err != nil {
		end()
		return nil, err
	}
	o.ProviderOptions = change.Args
	o.Settings.Env = slices.Concat(start.Env, change.Env, inject.PastProxies(start.Env))
	return end, nil
}

// warnOfStrangers says where something else has the port of the proxy that the client uses without this run. This run has a
// proxy of its own.
func warnOfStrangers(ctx context.Context, p command.Process, plan redirect.Plan, w io.Writer) {
	if len(plan.Passed) == 0 {
		return // so that no key is made either
	}
	key, err := secret.LoadProof(p.Lookup)
	if err != nil {
		return
	}
	for _, address := range plan.Passed {
		if _, err := proxy.Ask(ctx, address, key); proxy.Taken(err) {
			_, _ = fmt.Fprintf(w, "mcp-pruner: %v. This run does not use it, but without --proxy the client would send it your key and the conversation\n", err)
		}
	}
}

func (r *request) proxyOptions(plan redirect.Plan) proxy.Options {
	o := proxy.Options{Upstream: plan.Upstreams[""], Policy: r.proxied.policy, Store: r.proxied.store, Version: r.version}
	if o.Upstream == nil {
		o.Routes = plan.Upstreams
	}
	return o
}

// said returns a proxy's last report in words.
func said(h proxy.Health) string {
	text := fmt.Sprintf("%d requests through the proxy, %s (policy %s)", h.Requests, h.Changes(), h.Policy)
	if h.Status != proxy.OK {
		text += "; at the end nothing was replaced: " + h.Message
	}
	return text
}

// showProxied prints the changes that a run with a proxy would make, and makes none.
func (r *request) showProxied(w io.Writer, o runnerfsm.Options) error {
	plan, start, err := r.plan(o)
	if err != nil {
		return err
	}
	const folder = "FOLDER"
	change, err := plan.Change(redirect.Proxy{Address: "http://127.0.0.1:PORT", Secret: secret.Mask, Folder: folder, Shown: true})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s would be started with these changes, for this run only; no file of its own changes.\n", r.provider.Name())
	fmt.Fprintf(w, "proxy      http://127.0.0.1:PORT, policy %s; PORT is free, %s is a secret of this run, %s only you can read\n", r.proxied.policy, secret.Mask, folder)
	if len(plan.Upstreams) == 0 {
		fmt.Fprintln(w, "upstream   the provider that each request names: OpenAI with a key, ChatGPT with a login")
	}
	for _, route := range slices.Sorted(maps.Keys(plan.Upstreams)) {
		to := *plan.Upstreams[route]
		to.User, to.RawQuery = nil, ""
		fmt.Fprintf(w, "upstream   %s\n", strings.TrimSpace(route+" "+to.String()))
	}
	for _, v := range append(change.Env, inject.PastProxies(start.Env)...) {
		fmt.Fprintf(w, "variable   %s\n", v)
	}
	for _, path := range slices.Sorted(maps.Keys(change.Files)) {
		fmt.Fprintf(w, "file       %s: %s\n", path, strings.TrimSpace(change.Files[path]))
	}
	fmt.Fprintf(w, "command    %s\n", shellLine(append([]string{r.provider.Name()}, change.Args...)))
	return nil
}

// shellLine writes a command line for a POSIX shell.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if strings.Trim(w, shellPlain) != "" {
			quoted[i] = shellQuote(w)
		}
	}
	return strings.Join(quoted, " ")
}

// shellPlain are the characters that need no quotes in a shell.
const shellPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@+"

// shellQuote quotes a word for a POSIX shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
