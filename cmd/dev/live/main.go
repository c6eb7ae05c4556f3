// Command live drives recorded sessions turn by turn through the running proxy, against a stand-in for the model's API, bills
// them from the bytes that were sent, and compares the saving with what replay says.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/folds"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// near is the difference in points of the bill that the comparison allows, for the sessions of a set together.
const near = 2

// everyAPI is the collection whose sessions are played in the form of every API; those of others in the form of their own.
const everyAPI = "claude-code"

func main() {
	data := flag.String("data", "../shared/fixtures", "folder of the fixtures")
	set := flag.String("set", "claude-code", "collection of sessions")
	edits := flag.Bool("edits", false, "three sessions of each API, whose client changes its own messages, beside one that does not")
	behind := flag.Bool("behind", false, "the sessions behind what does as LiteLLM and agentgateway do, which ask the proxy to shrink their requests")
	real := flag.String("gateway", "", "address of a gateway that asks a proxy, and sends to the stand-in at -standin, with GATEWAY_KEY as its bearer token")
	standin := flag.String("standin", "127.0.0.1:9797", "where the model's API stands in for that gateway")
	ids := flag.String("sessions", "", "beginnings of the ids of sessions, separated by commas; none: the first ones that are long")
	flag.Parse()
	file, of := filepath.Join(*data, "sessions", *set), strings.Split(*ids, ",")
	err := error(nil)
	switch {
	case *real != "":
		err = runReal(context.Background(), os.Stdout, file, of, *real, *standin)
	case *behind:
		err = runBehind(context.Background(), os.Stdout, file, of, flag.Arg(0))
	case *edits:
		err = runEdits(context.Background(), os.Stdout, file, of, flag.Arg(0))
	default:
		err = run(context.Background(), file, of, flag.Arg(0), *set == everyAPI)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

// run compares sessions, each in the form of its own model's API, or with all one in the form of every API: where ids has fewer than there
// are APIs, they are used again. Then the first session is also that of a model that thinks in each answer, of which no request may be refused.
func run(ctx context.Context, file string, ids []string, program string, all bool) error {
	if program == "" {
		return fmt.Errorf("name the program: live [flags] bin/mcp-pruner")
	}
	list, err := find(ctx, file, ids)
	if err != nil {
		return err
	}
	fmt.Println("| API | session | calls | policy | clears | prunes | saved, from the bytes sent | by replay |\n|---|---|---|---|---|---|---|---|")
	sums := map[string]*sum{}
	for i := range max(len(list), len(apis)) {
		one := list[i%len(list)]
		a := apis[i%len(apis)]
		if !all {
			a = own(one)
		}
		if all || i < len(list) {
			if err := compare(ctx, program, a, asked(one, a), sums); err != nil {
				return fmt.Errorf("%s, %s: %w", a.name, one.ID, err)
			}
		}
	}
	if all {
		if err := think(ctx, program, list[0]); err != nil {
			return fmt.Errorf("%s, %s: %w", thinking().name, list[0].ID, err)
		}
	}
	var far []error
	for _, policy := range slices.Sorted(maps.Keys(sums)) {
		of := *sums[policy]
		sent, said := 100*of.sent/of.bill, 100*of.said/of.bill
		fmt.Printf("| | all | | %s | | | %.1f %% | %.1f %% |\n", policy, sent, said)
		if math.Abs(sent-said) > near {
			far = append(far, fmt.Errorf("%s: the figures differ by more than %d points", policy, near))
		}
	}
	return errors.Join(far...)
}

// sum is what the proxy saved of some sessions and what replay says, in fresh input tokens.
type sum struct{ bill, sent, said float64 }

// own returns the API of a session's model.
func own(s sessions.Session) api {
	b := sessions.Billed(s, nil)
	a := apis[2]
	switch {
	case b.Prices.LookBack() > 0:
		a = apis[0]
	case s.Source == agent.Codex.Name:
		a = apis[1]
	}
	a.model = cmp.Or(s.Model(), a.model)
	return a
}

// asked returns a session all of whose calls are of an API's model.
func asked(s sessions.Session, a api) sessions.Session {
	s.Steps = slices.Clone(s.Steps)
	for i := range s.Steps {
		if s.Steps[i].Kind == sessions.Call {
			s.Steps[i].Model = a.model
		}
	}
	return s
}

// compare prints what the proxy saves of one session, and what replay says, and adds both to the sums of each policy.
func compare(ctx context.Context, program string, a api, one sessions.Session, sums map[string]*sum) error {
	for _, policy := range []string{"gc", "both"} {
		want, err := replayed(ctx, one, policy)
		if err != nil {
			return err
		}
		sent, err := drive(ctx, program, policy, a, one, false)
		if err != nil {
			return err
		}
		got := (sent.whole - sent.bill) / sent.whole * want.prompts
		fmt.Printf("| %s | %.8s | %d | %s | %d | %d | %.1f %% | %.1f %% |\n", a.name, one.ID, sent.calls, policy, sent.cleared, sent.pruned,
			100*got/want.bill, 100*want.saved/want.bill)
		if sums[policy] == nil {
			sums[policy] = &sum{}
		}
		of := sums[policy]
		of.bill, of.sent, of.said = of.bill+want.bill, of.sent+got, of.said+want.saved
	}
	return nil
}

// think plays a session of a model that thinks in each answer.
func think(ctx context.Context, program string, one sessions.Session) error {
	a := thinking()
	for _, policy := range []string{"gc", "both"} {
		sent, err := drive(ctx, program, policy, a, asked(one, a), false)
		if err == nil && sent.refused > 0 {
			err = fmt.Errorf("%d requests were refused", sent.refused)
		}
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.8s | %d | %s | %d | %d | %.1f %% of the prompts | |\n", a.name, one.ID, sent.calls, policy, sent.cleared, sent.pruned,
			100*(sent.whole-sent.bill)/sent.whole)
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
				sent, err := drive(ctx, program, "gc", a, asked(one, a), edits)
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

// The number of model calls of a session that is taken where none is named.
const (
	longEnough = 60
	tooLong    = 250
)

// find returns the sessions of a collection whose ids begin so: a file of JSON lines, or an archive. Where none is named, it returns the
// first ones that are long, and the longest where too few are.
func find(ctx context.Context, collection string, ids []string) (list []sessions.Session, err error) {
	calls := func(s sessions.Session) (n int) {
		for _, step := range s.Steps {
			if step.Kind == sessions.Call {
				n++
			}
		}
		return n
	}
	var long, short []sessions.Session
	take := func(s sessions.Session) error {
		s = valid(s)
		switch named := slices.ContainsFunc(ids, func(id string) bool { return id != "" && strings.HasPrefix(s.ID, id) }); {
		case named:
			list = append(list, s)
		case folds.Flattened(s):
		case ids[0] == "" && calls(s) >= longEnough && calls(s) < tooLong && len(long) < len(apis):
			long = append(long, s)
		case ids[0] == "" && calls(s) < tooLong:
			short = append(short, s)
		}
		return nil
	}
	file := collection + ".jsonl.gz"
	if _, missing := os.Stat(file); missing != nil {
		file = collection + ".tar.gz"
		err = folds.Archive(file, func(name string, r io.Reader) error { return sessions.Read(ctx, name, r, take) })
	} else {
		err = sessions.ReadFile(ctx, file, take)
	}
	slices.SortStableFunc(short, func(a, b sessions.Session) int { return calls(b) - calls(a) })
	list = append(append(list, long...), short[:max(min(len(apis)-len(long), len(short)), 0)]...)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("no such session in %s", collection)
	}
	return list, err
}

// expected is what replay says of a session, in fresh input tokens: the saving before re-reads, which nobody makes here.
type expected struct{ bill, prompts, saved float64 }

func replayed(ctx context.Context, one sessions.Session, policy string) (expected, error) {
	beside := replay.Experiment{Decide: func(d *history.Decision, r sessions.ResultCost) {
		d.Prune = d.Prune && !(policy == "both" && r.Parsed.LeftToClearing(r.Call))
	}}
	f, err := replay.Of(ctx, one, replay.Settings{Policies: []replay.Policy{replay.Proxy, replay.GC}, Experiment: beside})
	if err != nil {
		return expected{}, err
	}
	of, pruned := replay.GC, 0.0
	if policy == "both" {
		new := f.Outcome(replay.Proxy)
		of, pruned = replay.Proxy, new.Gross-new.Markers
	}
	rule := contextgc.DefaultPolicy()
	rule.Prices = f.PlannerPrices()
	b := f.Tape(of).WithoutNeeds().Play(rule, rule, false)
	whole := f.Tape(replay.GC).Play(rule, rule, false).Before // the client sends what is pruned
	return expected{bill: f.Total, prompts: whole, saved: pruned + b.Before - b.After}, nil
}

// proxyCommand returns the command that starts a proxy in a state folder of its own.
func proxyCommand(ctx context.Context, program, state, policy, upstream string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, "proxy", "--port", "0", "--policy", policy, "--upstream", upstream)
	cmd.Env = append(os.Environ(), "HOME="+state, "XDG_STATE_HOME="+filepath.Join(state, "state"))
	return cmd
}
