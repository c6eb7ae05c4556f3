package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

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

	about string // repositories, language, year, and what is wrong with the set

	// readme is the set's name in the README's table; "" if it is not there.
	readme string

	// judged: agents that edit what they read, so that a miss leaves a mark. Only their figures stand for a repository.
	judged bool
}

var sets = []set{
	{name: "claude-code", file: "claude-code", judged: true, readme: "of Claude Code, entireio/cli (Go)",
		about: "entireio/cli, Go, 2025 and 2026. Claude Code, people at the keyboard."},
	{name: "cipher-box", file: "claude-code-2", source: "FSM1/cipher-box", judged: true, readme: "of Claude Code, cipher-box (TypeScript)",
		about: "FSM1/cipher-box, TypeScript, 2026. Claude Code 2.1.38 to 2.1.50."},
	{name: "context-evaluator", file: "claude-code-2", source: "PackmindHub/context-evaluator", judged: true,
		readme: "of Claude Code, context-evaluator (TypeScript)",
		about:  "PackmindHub/context-evaluator, TypeScript, 2026. Claude Code 2.1.38 to 2.1.50."},
	{name: "codex", file: "codex",
		about: "EntityProcess/agentv, TypeScript, 2026. Codex 0.140 with gpt-5.5, as Codex wrote them: few edits, much looking at other programs' output."},
	{name: "swe-bench", file: "swe-bench",
		about:  "SWE-bench Verified, twelve Python repositories, 2026. Claude Opus 4.6 with tools like ours.",
		readme: "of SWE-bench (Python)"},
	{name: "mini-swe", file: "mini-swe",
		about:  "SWE-bench Verified by one bash tool, Python, 2025. Gemini 3 Pro.",
		readme: "of mini-SWE (Python)"},
	{name: "opencode", file: "opencode",
		about: "dayhaysoos/nimbus, TypeScript, 2026. opencode with gpt-5.3-codex: short sessions of sub-agents that review."},
	{name: "mcp-tools", file: "mcp-tools", about: `**Withdrawn.** kunchenguid/axi, 2026: Claude Code with GitHub or browser servers, short graded tasks.
Until November 2026 this page stated +6.7 for the hook; most of that was results of one line that were cut to nothing, and no rule saw a need
(a record's id, a ` + "`uid`" + `, a title). Now the rules see these, and they are few.`},
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
	if one.source != "" {
		s.Only = func(s sessions.Session) bool { return s.Source == one.source }
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
