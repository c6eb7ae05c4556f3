// Command pictures draws the README's picture, and that of a window for the README and docs/CONTEXT.md: a session is played with
// PROGRAM, whose hooks cut what its tools return, and PROGRAM's page shows it in a real Chromium.
//
//	make pictures
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/chromium"
	"github.com/mcp-pruner/mcp-pruner/cmd/dev/view"
)

func main() {
	out := flag.String("o", "docs/pictures", "the folder where the pictures go")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "pictures: want PROGRAM")
		os.Exit(2)
	}
	if err := run(*out, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(out, program string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	if err := drawReadme(program, out); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pictures-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	h := view.Home{Dir: dir, Program: program}
	if _, err := h.Scripted("shop", "shop", time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), 3, true); err != nil {
		return err
	}
	ctx := context.Background()
	l, err := view.Start(ctx, program, h.Env(), dir)
	if err != nil {
		return err
	}
	defer l.End()
	b, stop, err := chromium.Start(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if err := b.Screen("light", 1100, 800); err != nil {
		return err
	}
	if _, err := b.Open("file://" + l.File); err != nil {
		return err
	}
	return take(b, out)
}

// shots are the parts of the page that are drawn: each after a step of JavaScript that selects something, and one that makes the
// part ready for the picture.
var shots = []struct{ file, step, ready, then, part string }{
	{"view-window.png", `document.querySelector('#sessions .row').click()`, `document.querySelectorAll('#window polygon').length === 5`, `0`, "#window-card"},
	{"view-cut.png", `[...document.querySelectorAll('#events .row')].find(r => r.textContent.includes('go test')).click()`, `document.querySelectorAll('#lines .row').length > 5`,
		`document.querySelector('.restore').remove(), document.querySelector('#lines').scrollTop = 20 * 174`, "#event"},
}

func take(b *chromium.Browser, out string) error {
	if err := wait(b, `document.querySelectorAll('#sessions .row').length === 1 && !document.querySelector('#sessions').textContent.includes('reading')`); err != nil {
		return err
	}
	for _, s := range shots {
		if _, err := chromium.Eval[bool](b, `(`+s.step+`, true)`); err != nil {
			return err
		}
		if err := wait(b, s.ready); err != nil {
			return err
		}
		if _, err := chromium.Eval[bool](b, `(`+s.then+`, true)`); err != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond) // the list draws what was scrolled to in its next frame
		picture, err := b.Picture(s.part)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, s.file), picture, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// wait waits until something is so on the page.
func wait(b *chromium.Browser, ready string) error {
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		if ok, err := chromium.Eval[bool](b, ready); err == nil && ok {
			return nil
		}
	}
	return errors.New("the page never came to: " + ready)
}
