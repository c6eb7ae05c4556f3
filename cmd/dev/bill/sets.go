package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/folds"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

// set is a collection of recorded sessions, or those of one repository in it.
type set struct {
	name   string
	file   string // collection, without the extension
	source string // of the sessions in it; "": all
	owner  string // of the repositories, where a session names its folder alone

	client  string
	version string
	begun   string // month of the first session, or the year
	ended   string
	model   string // today's default of the client, as which the sessions are judged once more

	about string // repositories, language, and what is wrong with the set

	// judged: agents that edit what they read, so that a miss leaves a mark. Only their figures stand for a repository.
	judged bool
}

// Today's default models (November 2026).
const (
	opus = "claude-opus-5-5" // its thinking is bound
	gpt  = "gpt-6.2"
)

// sets are all sets, the newest first.
var sets = []set{
	{name: "codex-3", file: "codex-3", owner: "jdx", client: "Codex", version: "0.144", begun: "2026-07", ended: "2026-07", model: gpt,
		about: "jdx/mise and jdx/hk, Rust. gpt-5.6-sol calls tools from code; two sessions call them directly."},
	{name: "claude-code-3", file: "claude-code-3", client: "Claude Code",
		version: "2.1.91 to 2.1.199", begun: "2026-04", ended: "2026-07", model: opus, judged: true,
		about: "entireio/git-sync, Go. Opus 4.6 to 4.8, people at the keyboard."},
	{name: "codex", file: "codex", owner: "EntityProcess", client: "Codex", version: "0.140 to 0.142", begun: "2026-06", ended: "2026-07", model: gpt,
		about: "EntityProcess/agentv, TypeScript. gpt-5.5: few edits, much looking at other programs' output."},
	{name: "codex-2", file: "codex-2", owner: "entireio", client: "Codex",
		version: "0.118 to 0.139", begun: "2026-04", ended: "2026-06", model: gpt, judged: true,
		about: "entireio/git-sync, Go. gpt-5.4 to 5.6."},
	{name: "opencode-2", file: "opencode-2", client: "opencode", begun: "2026-04", ended: "2026-05", model: gpt, judged: true,
		about: "eitatech/gatomia-vscode, TypeScript. Gemini 3.1 Pro and gpt-5.4, people at the keyboard."},
	{name: "opencode", file: "opencode", client: "opencode", begun: "2026-03", ended: "2026-03", model: gpt,
		about: "dayhaysoos/nimbus, TypeScript. gpt-5.3-codex: short sessions of sub-agents that review."},
	{name: "context-evaluator", file: "claude-code-2", source: "PackmindHub/context-evaluator", client: "Claude Code",
		version: "2.1.38 to 2.1.50", begun: "2026-02", ended: "2026-03",
		model: opus, judged: true, about: "PackmindHub/context-evaluator, TypeScript. Opus and Sonnet 4.6."},
	{name: "cipher-box", file: "claude-code-2", source: "FSM1/cipher-box", client: "Claude Code",
		version: "2.1.38 to 2.1.50", begun: "2026-02", ended: "2026-02",
		model: opus, judged: true, about: "FSM1/cipher-box, TypeScript. Opus and Sonnet 4.6."},
	{name: "swe-bench", file: "swe-bench", client: "tools like ours", begun: "2026", ended: "2026", model: opus,
		about: "SWE-bench Verified, twelve Python repositories. Opus 4.6. Without 42 sessions whose several agents stand in one list."},
	{name: "mcp-tools", file: "mcp-tools", client: "Claude Code", begun: "2026", ended: "2026", model: opus,
		about: "kunchenguid/axi: GitHub or browser servers, short graded tasks."},
	{name: "claude-code", file: "claude-code", client: "Claude Code", begun: "2026-01", ended: "2026-02", model: opus, judged: true,
		about: "entireio/cli, Go. Opus 4.5 and 4.6, Sonnet 4.5, people at the keyboard. 108 sessions have a day, all in January."},
	{name: "mini-swe", file: "mini-swe", client: "one bash tool", begun: "2025", ended: "2025", model: gpt,
		about: "SWE-bench Verified, Python. Gemini 3 Pro."},
}

// firstModern is the month from which on the clients are those of today: long lifetimes of the cache, thinking that stays in the prompt.
const firstModern = "2026-04"

// columns are the clients that the README has.
var columns = []string{"Claude Code", "Codex", "opencode"}

// modern reports whether the set is of a client of today's kind, and of agents whose needs are seen.
func (one set) modern() bool {
	return one.begun >= firstModern && one.judged && slices.Contains(columns, one.client)
}

// named returns a set.
func named(name string) set {
	return sets[slices.IndexFunc(sets, func(s set) bool { return s.name == name })]
}

// repository returns the repository that a session worked on.
func (one set) repository(s sessions.Session) string {
	if one.owner != "" {
		return one.owner + "/" + strings.Replace(path.Base(s.Project), "gitsync", "git-sync", 1)
	}
	return folds.Repository(s.Source, s.ID)
}

// when returns the months in which the sessions were recorded.
func (one set) when() string {
	if one.begun == one.ended {
		return one.begun
	}
	return one.begun + " to " + one.ended
}

// halfYear returns when a session was recorded.
func (one set) halfYear(s sessions.Session) string {
	day := one.begun
	if !s.Begun.IsZero() {
		day = s.Begun.Format(time.DateOnly)
	}
	switch year, month, _ := strings.Cut(day, "-"); {
	case month == "":
		return year
	case month < "07":
		return year + ", first half"
	default:
		return year + ", second half"
	}
}

// fixtures holds the folder of the recorded sessions and, for each fold, weights that were learned without its
// sessions.
type fixtures struct {
	dir    string
	opened string             // folder of unpacked archives
	unseen []*learned.Weights // indexed by fold
}

// replay replays one set, each session with the weights of its fold.
func (f fixtures) replay(ctx context.Context, one set, with replay.Experiment, policies ...replay.Policy) (replay.Report, error) {
	s, err := f.settings(one, with, policies...)
	if err != nil {
		return replay.Report{}, err
	}
	r, _, err := replay.Replay(ctx, s)
	return r, err
}

func (f fixtures) settings(one set, with replay.Experiment, policies ...replay.Policy) (replay.Settings, error) {
	fmt.Fprintln(os.Stderr, "bill:", one.name, policies)
	path, err := f.open(one.file)
	if err != nil {
		return replay.Settings{}, err
	}
	s := replay.Settings{Policies: policies, Experiment: with}
	if f.unseen != nil {
		s.Weights = func(s sessions.Session) *learned.Weights { return f.unseen[folds.Of(folds.Repository(s.Source, s.ID))] }
	}
	s.Only = func(s sessions.Session) bool {
		return (one.source == "" || s.Source == one.source) && !folds.Flattened(s)
	}
	s.Files, err = sessions.Files([]string{path})
	return s, err
}

// open returns the path of a collection: a file, or the folder of an unpacked archive.
func (f fixtures) open(name string) (string, error) {
	path := filepath.Join(f.dir, name+".jsonl.gz")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	folder := filepath.Join(f.opened, name)
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	return folder, unpack(filepath.Join(f.dir, name+".tar.gz"), folder)
}

// unpack writes the transcripts of an archive into a folder, without the archive's folders.
func unpack(archive, folder string) error {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	return folds.Archive(archive, func(name string, transcript io.Reader) error {
		out, err := os.Create(filepath.Join(folder, filepath.Base(name)))
		if err != nil {
			return err
		}
		_, err = io.Copy(out, transcript)
		return errors.Join(err, out.Close())
	})
}
