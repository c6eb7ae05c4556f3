// Package provider knows the clients that run agents: how each is started with the server injected, and how its output is
// read.
package provider

import (
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
)

// Provider is one client that runs agents: how the server is injected, and how the client's
// output is read. All clients are ended in the same way, by the keeper.
type Provider interface {
	// Name returns the value of --provider, which is also the client's executable on PATH.
	Name() string
	// Args returns the arguments that run the client headless.
	Args(Launch) []string
	// Env returns additional environment variables for a client with injected servers.
	Env(Launch) []string
	// GrantsShell reports whether the user's own options already give the client a shell
	// without sandbox and approval. Only then is bash offered by default.
	GrantsShell(options []string, s inject.Settings) bool
	// Dir returns the client's working directory, given its own options.
	Dir(options []string, dir string) string
	// Read returns a reader for the output of one launch with servers. Without servers the
	// output is not read: the client follows the user's own options.
	Read(Launch, Output) Reader
}

// Launch is one start of a client.
type Launch struct {
	Servers      inject.Servers // servers to inject; empty: run the client unchanged
	ConfigFile   string         // file with the servers, for a client that takes one; "": they contain no secret
	Lost         bool           // servers were to be injected, and could not be
	Passed       []string       // names of variables that the servers may see
	Tools        []string       // tools of the servers to offer and to use without asking
	Options      []string       // the user's own options for the client
	Prompt       string         // "" when the client reads it from standard input
	StartTimeout time.Duration
}

// Output is where a reader prints, and the function it reports to.
type Output struct {
	Stdout, Stderr io.Writer
	Report         func(Report)
}

// Reader follows one launch of a client, line by line.
type Reader interface {
	Stdout(line []byte)
	Stderr(line []byte)
	// End is called at the end of standard output.
	End()
	// Raw reports whether standard output is passed through unchanged. Otherwise the reader
	// prints what the client would have printed with the user's options.
	Raw() bool
}

// News is a kind of report about the server.
type News int

// The kinds of news.
const (
	Ready     News = iota // the server is connected and its tools are there
	NotReady              // it could not be started or connected to
	GaveUp                // the same, and the client ends because of it
	Failed                // it was ready and has failed
	CallEnded             // a call of one of its tools returned
)

// Report is one report of a client.
type Report struct {
	News
	Message string  // NotReady, GaveUp: the client's message
	Reason  string  // Failed: "exited" or "unreachable"
	Pruning Pruning // CallEnded
}

// Pruning holds the server's figures about one result, from the result's _meta.
type Pruning struct {
	Applied     bool `json:"applied"`
	RawBytes    int  `json:"raw_bytes"`
	PrunedBytes int  `json:"pruned_bytes"`
}

// resultMeta is the part of a result's _meta that is read.
type resultMeta struct {
	Meta struct {
		Pruning Pruning `json:"jeeves/pruning"`
	} `json:"_meta"`
}

// decode parses one event and reports whether the line is JSON at all. A field of an
// unexpected type is skipped: clients change, and the other fields should still be read.
func decode(line []byte, event any) bool {
	err := json.Unmarshal(line, event)
	var mismatch *json.UnmarshalTypeError
	return err == nil || errors.As(err, &mismatch)
}

// Reasons for the failure of a ready server, as in mcp_pruner.degraded.
const (
	Exited      = "exited"
	Unreachable = "unreachable"
)
