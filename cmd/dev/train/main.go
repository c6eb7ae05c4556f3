// Command train learns the weights of the learned ranking (pruneclient/lineprune/learned) from sessions of agents. It
// measures them by cross-validation.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/folds"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
)

func main() {
	log.SetFlags(log.Ltime)
	var o options
	flag.StringVar(&o.data, "data", "", "`folder` of the cases: sessionbench, prunebench and sessions")
	flag.StringVar(&o.weights, "o", "", "`folder` the weights are written to")
	flag.StringVar(&o.folds, "folds", "", "`folder` that gets weights for make bill, each learned without one fold of the sessions")
	flag.StringVar(&o.report, "report", "", "`file` the figures are written to")
	flag.StringVar(&o.date, "date", time.Now().UTC().Format(time.DateOnly), "date in the notes of the weights and in the page")
	o.boosting = defaults
	flag.IntVar(&o.trees, "trees", o.trees, "how many trees")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		log.Fatal(err)
	}
}

type options struct {
	data, weights, folds, report, date string
	boosting
}

func run(ctx context.Context, o options) error {
	d, err := load(ctx, o.data)
	if err != nil {
		return err
	}
	log.Printf("examples: %d of sessionbench, %d of prunebench, %d of sessions", len(d.session), len(d.prune), len(d.replay))
	ms, err := materials(ctx, d.all())
	if err != nil {
		return err
	}
	log.Print("features are computed")
	if o.weights != "" {
		notes := []string{
			"Weights of the learned ranking, written by make train on " + o.date + "; do not edit.",
			fmt.Sprintf("Learned from %d cases of sessionbench, %d of prunebench and %d results of agent sessions, the halves for development.",
				len(d.session), len(d.prune), len(d.replay)),
			"The texts are of public projects under permissive licences; the weights hold none of them.",
		}
		if err := writeAll(o.weights, train(ms, o.boosting), notes); err != nil {
			return err
		}
		log.Print("weights are written")
	}
	if o.folds != "" {
		if err := writeFolds(o.folds, ms, o.boosting); err != nil {
			return err
		}
		log.Print("weights of the folds are written")
	}
	if o.report == "" {
		return nil
	}
	text, err := reportOf(ctx, d, ms, o)
	if err != nil {
		return err
	}
	return os.WriteFile(o.report, []byte(text), 0o644)
}

// writeFolds writes one folder of weights per fold. They are learned from the other folds.
func writeFolds(folder string, ms []*material, b boosting) error {
	for fold := range folds.Count {
		known := slices.DeleteFunc(slices.Clone(ms), func(m *material) bool { return folds.Of(m.repo) == fold })
		dir := filepath.Join(folder, strconv.Itoa(fold))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := writeAll(dir, train(known, b), nil); err != nil {
			return err
		}
	}
	return nil
}

func writeAll(folder string, w *learned.Weights, notes []string) error {
	return errors.Join(write(folder, learned.CallFile, w.Call, notes), write(folder, learned.SessionFile, w.Session, notes))
}

func write(folder, name string, f *learned.Forest, notes []string) error {
	var out bytes.Buffer
	if err := writeForest(&out, f, learned.Names(), notes); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name), out.Bytes(), 0o644)
}
