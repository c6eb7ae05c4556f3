// Command upgrade writes the folder testdata/upgrade with a build of the program: a home folder in which it worked as server, hook,
// proxy and runner, and what it says about it. The test of cmd/mcp-pruner asks the program of today the same. It needs Linux.
//
//	go run ./upgrade -o ../../testdata/upgrade PROGRAM
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	folder := flag.String("o", "testdata/upgrade", "the folder to write")
	within := flag.String("inside", "", "internal")
	flag.Parse()
	var err error
	switch {
	case *within != "":
		err = inside(*within)
	case flag.NArg() != 1:
		fmt.Fprintln(os.Stderr, "upgrade: want PROGRAM")
		os.Exit(2)
	default:
		err = keepState(flag.Arg(0), *folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "upgrade:", err)
		os.Exit(1)
	}
}
