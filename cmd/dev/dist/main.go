// Command dist builds the files of a release into one folder. `make dist` runs it.
//
// The files are static binaries for six systems, archives of them with the licence, the README, completions and man
// pages, npm packages, MCPB bundles, a software bill of materials (SBOM) and checksums. The same commit gives the same
// bytes on every machine: all times are the commit's, paths are trimmed, and lists are sorted.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("dist", flag.ContinueOnError)
	out := flags.String("o", "dist", "folder to write to")
	systems := flags.String("systems", strings.Join(allSystems, ","), "systems to build for")
	licenses := flags.Bool("licenses", false, "only print the licences of what is linked")
	texts := flags.Bool("notices", false, "only print the texts of these licences")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *texts {
		text, err := notices(ctx)
		if err == nil {
			_, err = os.Stdout.Write(text)
		}
		return err
	}
	if *licenses {
		return printLicenses(ctx, os.Stdout)
	}
	r, err := newRelease(ctx, *out)
	if err != nil {
		return err
	}
	for _, system := range strings.Split(*systems, ",") {
		fmt.Println("dist:", system)
		if err := r.build(ctx, system); err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
	}
	return r.finish()
}
