package provider

import "github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"

// Given is any client, run with exactly the arguments that the user gave for it, and without a server. Its value is the
// client's name.
type Given string

// Name returns the client's name.
func (g Given) Name() string { return string(g) }

// Args returns the user's arguments.
func (Given) Args(l Launch) []string { return l.Options }

// Env returns nothing: the environment stays the user's.
func (Given) Env(Launch) []string { return nil }

// GrantsShell is not asked, because there is no server.
func (Given) GrantsShell([]string, inject.Settings) bool { return false }

// Dir returns the folder in which the client is started.
func (Given) Dir(_ []string, dir string) string { return dir }

// Read is not called, because the output is the client's.
func (Given) Read(Launch, Output) Reader { return nil }
