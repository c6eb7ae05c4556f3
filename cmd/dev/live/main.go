// Command live drives recorded sessions turn by turn through the running proxy, against a stand-in for the model's API, bills
// them from the bytes that were sent, and compares the saving with what replay says.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// near is the difference in points of the bill that the comparison allows.
const near = 3

func main() {
	data := flag.String("data", "../shared/fixtures", "folder of the fixtures")
	set := flag.String("set", "claude-code", "collection of sessions")
	edits := flag.Bool("edits", false, "three sessions of each API, whose client changes its own messages, beside one that does not")
	ids := flag.String("sessions", "", "beginnings of the ids of sessions, separated by commas; none: the first ones that are long")
	flag.Parse()
	file, of := filepath.Join(*data, "sessions", *set+".jsonl.gz"), strings.Split(*ids, ",")
	err := error(nil)
	if *edits {
		err = runEdits(context.Background(), os.Stdout, file, of, flag.Arg(0))
	} else {
		err = run(context.Background(), file, of, flag.Arg(0), near)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

// run compares each API's session. Where ids has fewer of them than there are APIs, they are used again. The first session is also that
// of a model that thinks in each answer, of which no request may be refused.
func run(ctx context.Context, file string, ids []string, program string, within float64) error {
	if program == "" {
		return fmt.Errorf("name the program: live [flags] bin/mcp-pruner")
	}
	list, err := find(ctx, file, ids)
	if err != nil {
		return err
	}
	far := 0
	fmt.Println("| API | session | calls | policy | clears | prunes | saved, from the bytes sent | by replay |\n|---|---|---|---|---|---|---|---|")
	for i, a := range apis {
		one := list[i%len(list)]
		for _, policy := range []string{"gc", "both"} {
			want, err := replayed(ctx, file, one.ID, policy)
			if err != nil {
				return err
			}
			sent, err := drive(ctx, program, policy, a, one, false)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", a.name, one.ID, err)
			}
			got := 100 * (sent.whole - sent.bill) / sent.whole * want.ofBill
			note := ""
			if diff := got - want.saved; diff > within || diff < -within {
				note = " (far)"
				far++
			}
			fmt.Printf("| %s | %.8s | %d | %s | %d | %d | %.1f %%%s | %.1f %% |\n", a.name, one.ID, sent.calls, policy, sent.cleared, sent.pruned, got, note, want.saved)
		}
	}
	for _, policy := range []string{"gc", "both"} {
		sent, err := drive(ctx, program, policy, thinking(), list[0], false)
		if err == nil && sent.refused > 0 {
			err = fmt.Errorf("%d requests were refused", sent.refused)
		}
		if err != nil {
			return fmt.Errorf("%s, %s: %w", thinking().name, list[0].ID, err)
		}
		fmt.Printf("| %s | %.8s | %d | %s | %d | %d | %.1f %% of the prompts | |\n", thinking().name, list[0].ID, sent.calls, policy, sent.cleared, sent.pruned,
			100*(sent.whole-sent.bill)/sent.whole)
	}
	if far > 0 {
		return fmt.Errorf("%d of the figures differ by more than %g points", far, within)
	}
	return nil
}

// keeps is the part of an untouched client's saving that one that changes its own messages must keep.
const keeps = .9

// runEdits compares, for three sessions of each API, what the proxy saves for a client that changes its own messages with what
// it saves for one that does not, each in percent of its own bill.
func runEdits(ctx context.Context, w io.Writer, file string, ids []string, program string) error {
	list, err := find(ctx, file, ids)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(w, "| API | session | calls | saved, messages untouched | saved, messages changed | kept |\n|---|---|---|---|---|---|")
	below := 0
	for _, a := range apis {
		for _, one := range list[:min(len(list), 3)] {
			var saved [2]float64
			var calls int
			for i, edits := range []bool{false, true} {
				sent, err := drive(ctx, program, "gc", a, one, edits)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", a.name, one.ID, err)
				}
				saved[i], calls = 100*(sent.whole-sent.bill)/sent.whole, sent.calls
			}
			if saved[1] < keeps*saved[0] {
				below++
			}
			_, _ = fmt.Fprintf(w, "| %s | %.8s | %d | %.1f %% | %.1f %% | %.0f %% |\n", a.name, one.ID, calls, saved[0], saved[1], 100*saved[1]/saved[0])
		}
	}
	if below > 0 {
		return fmt.Errorf("%d of the sessions keep less than %g of the saving", below, keeps)
	}
	return nil
}

// longEnough is the number of model calls of a session that is taken where none is named.
const longEnough = 60

// find returns the sessions whose ids begin so.
func find(ctx context.Context, file string, ids []string) (list []sessions.Session, err error) {
	err = sessions.ReadFile(ctx, file, func(s sessions.Session) error {
		calls := 0
		for _, step := range s.Steps {
			if step.Kind == sessions.Call {
				calls++
			}
		}
		for _, id := range ids {
			if id != "" && strings.HasPrefix(s.ID, id) || id == "" && calls >= longEnough && len(list) < len(apis) {
				list = append(list, s)
			}
		}
		return nil
	})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("no such session in %s", file)
	}
	return list, err
}

// expected is what replay says of a session, in percent of its whole bill, before re-reads, which nobody makes here.
type expected struct {
	saved  float64
	ofBill float64 // the share of the prompts, as the planner models them, in the bill
}

func replayed(ctx context.Context, file, id, policy string) (e expected, err error) {
	judged := func(f *replay.Figures) {
		of, pruned := replay.GC, 0.0
		if policy == "both" {
			hook := f.Outcome(replay.Hook)
			of, pruned = replay.Both, hook.Gross-hook.Markers
		}
		rule := contextgc.DefaultPolicy()
		rule.Prices = f.PlannerPrices()
		b := f.Tape(of).WithoutNeeds().Play(rule, rule, false)
		whole := f.Tape(replay.GC).Play(rule, rule, false).Before // the client sends what is pruned
		e = expected{saved: 100 * (pruned + b.Before - b.After) / f.Total, ofBill: whole / f.Total}
	}
	_, _, err = replay.Replay(ctx, replay.Settings{Files: []string{file}, Policies: []replay.Policy{replay.Hook, replay.GC}, Explain: id,
		Judged: judged})
	return e, err
}

// proxyCommand returns the command that starts a proxy in a state folder of its own.
func proxyCommand(ctx context.Context, program, state, policy, upstream string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, "proxy", "--port", "0", "--policy", policy, "--upstream", upstream)
	cmd.Env = append(os.Environ(), "HOME="+state, "XDG_STATE_HOME="+filepath.Join(state, "state"))
	return cmd
}
