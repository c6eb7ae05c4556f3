package calls

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// maker returns the content of one input. The random numbers depend only on the input's path.
type maker func(r *rand.Rand) string

// inputs returns the makers of all inputs by path, relative to the root. Files below bin are commands that print
// another input; the test's server has them on its PATH.
func inputs() map[string]maker {
	all := map[string]maker{}
	for _, some := range []map[string]maker{logs(), traces(), tables(), documents(), code(), repository()} {
		maps.Copy(all, some)
	}
	return all
}

// Write writes every input of the calls below a folder.
func Write(dir string) error { return write(dir, inputs()) }

// WriteLong writes every long output below a folder, and the commands that print them.
func WriteLong(dir string) error { return write(dir, long()) }

func write(dir string, all map[string]maker) error {
	for path, make := range all {
		hash := fnv.New64a()
		_, _ = hash.Write([]byte(path))
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(path, "bin/") {
			mode = 0o755
		}
		if err := os.WriteFile(file, []byte(make(rand.New(rand.NewPCG(hash.Sum64(), 1)))), mode); err != nil {
			return err
		}
	}
	return nil
}

// prints makes a shell script that prints a file of the root and returns an exit code.
func prints(file string, code int) maker {
	return func(*rand.Rand) string {
		return fmt.Sprintf("#!/bin/sh\ncat \"${0%%/*}/../%s\"\nexit %d\n", file, code)
	}
}

// with returns n lines. given holds the text of some lines by 1-based number; line makes the others.
func with(n int, given map[int]string, line func(i int) string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		text, ok := given[i]
		if !ok {
			text = line(i)
		}
		b.WriteString(strings.TrimSuffix(text, "\n") + "\n")
	}
	return b.String()
}

func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

func clock(second int) string {
	return fmt.Sprintf("%02d:%02d:%02d", second/3600%24, second/60%60, second%60)
}

func hex(r *rand.Rand, digits int) string {
	var b strings.Builder
	for range digits {
		b.WriteByte("0123456789abcdef"[r.IntN(16)])
	}
	return b.String()
}

func base64(r *rand.Rand, n int) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var b strings.Builder
	for range n {
		b.WriteByte(digits[r.IntN(len(digits))])
	}
	return b.String()
}

var (
	nouns     = []string{"order", "invoice", "customer", "basket", "shipment", "refund", "session", "token", "report", "account", "product", "price", "stock", "label", "voucher", "address"}
	verbWords = []string{"Create", "Update", "Delete", "Find", "List", "Parse", "Render", "Merge", "Split", "Check", "Load", "Store", "Sort", "Count", "Match", "Format"}
)

func noun(r *rand.Rand) string { return pick(r, nouns...) }

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

func name(r *rand.Rand) string { return pick(r, verbWords...) + title(noun(r)) }
