package runnerfsm

import (
	"io"
	"time"
)

// Provider is one client that runs agents: how the server is injected into it,
// and how what it prints is read. How it ends is the same for all of them: the
// keeper ends whole process groups.
type Provider interface {
	// Name is what --provider calls it.
	Name() string
	// Program is the client's executable, looked up on PATH.
	Program() string
	// Args are the arguments that run the client headless.
	Args(Launch) []string
	// Env is what the client's environment gets on top when servers are injected.
	Env(Launch) []string
	// GrantsShell says whether the user's own options already give the client a shell
	// without sandbox and approval. Only then is bash offered without being asked for.
	GrantsShell(options []string, s Settings) bool
	// Dir is the directory the client will work in, given its own options.
	Dir(options []string, dir string) string
	// Read starts reading what one launch with servers prints. Without servers
	// nothing is read: the client does what the user's own options say.
	Read(Launch, Output) Reader
}

// Launch is one start of a client.
type Launch struct {
	Servers      Servers  // what to inject; empty runs the client as it is
	ConfigFile   string   // a file with them, for a client that takes one; "": there is no secret in them
	Lost         bool     // they were to be injected, and could not be
	Passed       []string // variables the servers are to see, by name
	Tools        []string // of the servers: offered, and used without asking; no others are
	Options      []string // the user's own options for the client
	Prompt       string   // "" when the client reads it from standard input
	StartTimeout time.Duration
}

// Output is where a reader shows things to a person, and to whom it reports.
type Output struct {
	Stdout, Stderr io.Writer
	Report         func(Report)
}

// Reader follows one launch of a client, line by line.
type Reader interface {
	Stdout(line []byte)
	Stderr(line []byte)
	// End is the end of standard output.
	End()
	// Raw says that standard output is passed through as it is. Otherwise the
	// reader prints what the client would have printed for the user's options.
	Raw() bool
}

// News is what a client can tell about the server.
type News int

// The kinds of news.
const (
	Ready     News = iota // the server is connected and its tools are there
	NotReady              // it could not be started or connected
	GaveUp                // the same, and the client ends because of it
	Failed                // it was ready and is gone
	CallEnded             // a call of one of its tools came back
)

// Report is one piece of news.
type Report struct {
	News
	Message string  // NotReady, GaveUp: what the client said
	Reason  string  // Failed: "exited" or "unreachable"
	Pruning Pruning // CallEnded
}

// Pruning is what the server says of one result, in the result's own _meta.
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

// Providers lists the clients the runner can run.
func Providers() []Provider { return []Provider{Claude{}, Codex{}} }

// ProviderByName finds one of Providers.
func ProviderByName(name string) (Provider, bool) {
	for _, p := range Providers() {
		if p.Name() == name {
			return p, true
		}
	}
	return nil, false
}
