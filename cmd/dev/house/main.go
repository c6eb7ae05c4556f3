// Command house measures how the product's module is built: lines per room, the share of cmd, circles of files, the
// longest chain of imports, and exported names that no other package uses. It prints a table in Markdown. With -before,
// the folder of another checkout, it prints both. Below it are the sizes that may only fall, with their limits. With -circles
// it prints each package's largest circle of files instead.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	before := flag.String("before", "", "another checkout of the project, for a column of its own")
	files := flag.Bool("circles", false, "print each package's largest circle of files")
	flag.Parse()
	action := func() error { return run(*before) }
	if *files {
		action = printCircles
	}
	if err := action(); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

func run(before string) error {
	folders := []string{"."}
	heads := "| | now |\n|---|---|\n"
	if before != "" {
		folders = []string{before, "."}
		heads = "| | before | now |\n|---|---|---|\n"
	}
	var tables []table
	for _, folder := range folders {
		m, err := measure(folder)
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
		tables = append(tables, m)
	}
	fmt.Print(heads)
	for i, r := range tables[0] {
		fmt.Print("| ", r.name, " |")
		for _, m := range tables {
			fmt.Print(" ", m[i].value, " |")
		}
		fmt.Println()
	}
	return printSizes(".")
}

// printCircles prints the circles of more than one file.
func printCircles() error {
	product, err := load(".")
	if err != nil {
		return err
	}
	for _, c := range circles(product) {
		if len(c.files) > 1 {
			fmt.Println(c)
		}
	}
	return nil
}
