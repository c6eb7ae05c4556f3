// Command picture draws the README's picture: a file, and the part of it that PROGRAM returns for QUESTION.
//
//	make picture
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

func main() {
	out := flag.String("o", "docs/pictures/before-after.svg", "where the picture goes")
	flag.Parse()
	if flag.NArg() != 3 {
		fmt.Fprintln(os.Stderr, "picture: want PROGRAM QUESTION FILE")
		os.Exit(2)
	}
	if err := run(*out, flag.Arg(0), flag.Arg(1), flag.Arg(2)); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(out, program, question, file string) error {
	before, err := read(program, map[string]any{"file_path": file})
	if err != nil {
		return err
	}
	after, err := read(program, map[string]any{"file_path": file, "context_focus_question": question})
	if err != nil {
		return err
	}
	return os.WriteFile(out, draw(file, question, before, after), 0o644)
}

// read calls the read tool of the program's stdio server and returns the text of the result.
func read(program string, arguments map[string]any) (string, error) {
	call, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "read", "arguments": arguments},
	})
	if err != nil {
		return "", err
	}
	server := exec.Command(program)
	server.Env = append(os.Environ(), "PRUNER_URL=embedded")
	server.Stdin = bytes.NewReader(append(call, '\n'))
	line, err := server.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", program, err)
	}
	var answer struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return "", err
	}
	if len(answer.Result.Content) == 0 {
		return "", fmt.Errorf("no answer: %s", line)
	}
	return strings.TrimSuffix(answer.Result.Content[0].Text, "\n"), nil
}
