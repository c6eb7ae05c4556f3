package assemble

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/states/store"
)

// Entry describes the credentials that a program's callers need.
type Entry struct {
	Program string // in the scopes of keys: serve, gateway, pruner or proxy
	Door    settings.Door
	Store   string // the program's option --store
	Shell   bool   // callers get a shell
	Failed  func(message string)
}

// Open opens what admits the callers: the token, the API keys and the OpenID provider that the settings name. It returns
// nil if callers need no credential. A shell admits one person only: it acts with the rights of whoever started it, and
// what one caller leaves behind another could read.
func (e Entry) Open(ctx context.Context, lookup settings.Lookup) (g *web.Gate, close func(), err error) {
	close = func() {}
	if !e.Door.Asks() {
		return nil, close, nil
	}
	if e.Shell && e.Door.OIDC.Issuer != "" {
		return nil, close, fmt.Errorf("an OpenID provider lets many people in: %w", errShell)
	}
	g = &web.Gate{Door: e.Program}
	if e.Door.TokenFile != "" {
		token, err := web.ReadToken(e.Door.TokenFile)
		if err != nil {
			return nil, close, fmt.Errorf("MCP_PRUNER_TOKEN_FILE: %w", err)
		}
		g.Methods = append(g.Methods, token)
	}
	if e.Door.APIKeys {
		all, err := OpenKeys(e.Store, lookup, e.Failed)
		if err != nil {
			return nil, close, err
		}
		close = func() { _ = all.Close() } // nothing is written any more
		only := ""
		if e.Shell {
			if only, err = onlyKey(ctx, all, len(g.Methods)); err != nil {
				close()
				return nil, func() {}, err
			}
		}
		g.Methods = append(g.Methods, web.NewStoredKeys(finder(all, only), e.Door.KeysGrace, e.Failed, time.Now))
	}
	if o := e.Door.OIDC; o.Issuer != "" {
		g.Methods = append(g.Methods, &web.OIDC{Issuer: o.Issuer, Audience: o.Audience, Scopes: o.Scopes, Claim: o.Claim})
		g.OAuth = &web.ProtectedResource{URL: e.Door.Access.Public + "/mcp", Issuer: o.Issuer, Scopes: o.Scopes}
		if e.Door.Access.Public == "" {
			g.OAuth = nil // clients cannot be told where they are
		}
	}
	return g, close, nil
}

var errShell = errors.New("bash is never shared: leave it out (MCP_PRUNER_TOOLS=read,grep), or start one server for each person, as docs/TEAMS.md describes")

// onlyKey returns the id of the only valid key that opens a shell. It fails if there are several, or other credentials.
func onlyKey(ctx context.Context, all *store.Keys, others int) (id string, err error) {
	list, err := all.List(ctx)
	if err != nil {
		return "", err
	}
	list = slices.DeleteFunc(list, func(k store.Key) bool {
		return !k.Valid(time.Now()) || len(k.Scopes) > 0 && !slices.Contains(k.Scopes, "serve")
	})
	switch {
	case len(list)+others > 1:
		return "", fmt.Errorf("%d credentials open this server: %w", len(list)+others, errShell)
	case len(list) == 0:
		return "", errors.New(`no key opens this server: make one with "mcp-pruner keys add SUBJECT" first`)
	}
	return list[0].ID, nil
}

// finder returns the function that finds the caller of an API key in a store. With only, no other key counts.
func finder(all *store.Keys, only string) web.KeyFinder {
	return func(ctx context.Context, hash []byte) (web.Caller, bool, error) {
		k, ok, err := all.Lookup(ctx, store.Hash(hash))
		if err != nil || !ok || !k.Valid(time.Now()) || only != "" && k.ID != only {
			return web.Caller{}, false, err
		}
		return web.Caller{Subject: k.Subject, Doors: k.Scopes, Until: k.Expires}, true, nil
	}
}
