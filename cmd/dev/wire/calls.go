package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/calls"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// message is a line for the server. silent: no answer is due.
type message struct {
	line   string
	silent bool
}

// caller makes messages. The same random numbers make the same ones.
type caller struct {
	random *rand.Rand
	root   string
	files  []string // plain ones, relative to the root
	cases  []calls.Call
}

func newCaller(random *rand.Rand, root string, cases []calls.Call) (*caller, error) {
	c := &caller{random: random, root: root, cases: cases}
	for _, folder := range []string{"src", "logs", "conf", "db", "docs", "data", "out"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				path, err = filepath.Rel(root, path)
				c.files = append(c.files, filepath.ToSlash(path))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(c.files)
	return c, nil
}

// kinds are the kinds of messages. One is chosen with a probability in proportion to its odds.
var kinds = []struct {
	odds int
	make func(*caller, *talk) message
}{
	{14, (*caller).realistic}, {8, (*caller).whole}, {7, (*caller).part}, {7, (*caller).odd}, {4, (*caller).unreadable}, {5, (*caller).badArguments},
	{8, (*caller).shell}, {4, (*caller).failing}, {12, (*caller).search}, {4, (*caller).badSearch}, {4, (*caller).shorten},
	{10, (*caller).recover}, {4, (*caller).recoverByRead}, {5, (*caller).protocol}, {4, (*caller).ledger},
}

func (c *caller) next(t *talk) message {
	total := 0
	for _, k := range kinds {
		total += k.odds
	}
	n := c.random.IntN(total)
	for _, k := range kinds {
		if n -= k.odds; n < 0 {
			return k.make(c, t)
		}
	}
	panic("the odds have a gap")
}

func pick[T any](c *caller, all ...T) T { return all[c.random.IntN(len(all))] }

// asked adds a question in two of three cases.
func (c *caller) asked(args object) object {
	if c.random.IntN(3) > 0 {
		args["context_focus_question"] = pick(c, c.cases...).Question
	}
	if c.random.IntN(6) == 0 {
		args["max_output_bytes"] = pick(c, 1024, 5000, 50_000, 2_000_000)
	}
	return args
}

// realistic is a call of testdata/calls.
func (c *caller) realistic(t *talk) message {
	k := pick(c, c.cases...)
	if c.random.IntN(4) == 0 {
		return message{line: t.call(k.Tool, k.Args)}
	}
	return message{line: t.call(k.Tool, k.Asked())}
}

func (c *caller) whole(t *talk) message {
	return message{line: t.call("read", c.asked(object{"file_path": pick(c, c.files...)}))}
}

func (c *caller) part(t *talk) message {
	from := 1 + c.random.IntN(400)
	args := object{"file_path": pick(c, c.files...), "start_line": from}
	if c.random.IntN(3) > 0 {
		args["end_line"] = from + pick(c, 0, 1, 40, 300, 5000)
	}
	return message{line: t.call("read", c.asked(args))}
}

// odd reads a file that is not plain text with short lines.
func (c *caller) odd(t *talk) message {
	args := object{"file_path": "odd/" + pick(c, "crlf.txt", "latin1.txt", "broken.txt", "binary.dat", "long.txt", "one.json", "big.log", "empty.txt", "no-end.txt",
		"bom.txt", "utf16.txt", "wide.txt", "sp ace.txt", "bars.txt", "link-in", "hidden/.env")}
	if c.random.IntN(4) == 0 {
		args["start_line"], args["end_line"] = 2, pick(c, 2, 3, 100)
	}
	if c.random.IntN(4) == 0 {
		args["encoding"] = "utf-8"
	}
	return message{line: t.call("read", c.asked(args))}
}

// unreadable names what read refuses.
func (c *caller) unreadable(t *talk) message {
	path := pick(c, "no-such-file.txt", "src", ".", "../outside.txt", "odd/link-out", "/etc/hostname", c.root+"/go.sum", c.root+"/../outside.txt", "odd/../../outside.txt",
		"go.sum/x", "", "a\x00b", "~/x", strings.Repeat("x", 300), "prn_1")
	return message{line: t.call("read", c.asked(object{"file_path": path}))}
}

// badArguments breaks the rules that are checked before a tool runs.
func (c *caller) badArguments(t *talk) message {
	tool := pick(c, "read", "bash", "grep", "prune_text", "recover_text", "context_get")
	args := pick(c,
		object{}, object{"file_path": 7}, object{"file_path": "go.sum", "start_line": 0}, object{"file_path": "go.sum", "start_line": 9, "end_line": 3},
		object{"file_path": "go.sum", "start_line": 1.5}, object{"file_path": "go.sum", "encoding": "latin1"}, object{"file_path": "go.sum", "unknown": true, "too": 1},
		object{"file_path": "go.sum", "max_output_bytes": 10}, object{"file_path": "go.sum", "context_focus_question": strings.Repeat("why ", 300)},
		object{"file_path": "go.sum", "context_focus_question": ""}, object{"file_path": "go.sum", "context_focus_question": "  "}, object{"path": "go.sum"},
		object{"command": ""}, object{"command": "echo hi", "timeout_ms": 1}, object{"command": "echo hi", "timeout_ms": 99_999_999}, object{"command": []any{"ls"}},
		object{"command": "echo hi", "cwd": ".."}, object{"command": "echo hi", "env": object{"A": 1}}, object{"command": "echo hi", "env": object{"A=B": "x"}},
		object{"pattern": ""}, object{"pattern": "x", "path": "src", "paths": []any{"conf"}}, object{"pattern": "x", "context_lines": 51}, object{"pattern": "x", "paths": []any{}},
		object{"pattern": "x", "max_matches": 0}, object{"pattern": "x", "output_mode": "all"}, object{"pattern": "x", "paths": []any{"src", 3}},
		object{"text": "a", "goal_hint": "b", "source_type": "code"}, object{"prune_id": "x", "ranges": []any{}, "include_line_numbers": "no"},
		object{"prune_id": t.original(1), "ranges": []any{object{"start_line": 0, "end_line": 1}}, "include_line_numbers": false},
	)
	return message{line: t.call(tool, args)}
}

func (c *caller) shell(t *talk) message {
	file := pick(c, c.files...)
	args := object{"command": pick(c, "cat "+file, "head -n 400 "+file, "grep -n e "+file, "sort "+file+" | head -n 900", "seq 1 3000", "printf 'no end of line'", "true",
		"cat odd/crlf.txt", "cat odd/latin1.txt", "cat odd/broken.txt", "cat odd/binary.dat", "cat odd/long.txt", "cat odd/bars.txt", "cat odd/big.log",
		"cat odd/one.json", "pwd", "echo $GREETING; env | grep -c PRUNER", "seq 1 40; seq 1 900 >&2", "echo out; echo err >&2", "find src -name '*.go' | sort", "wc -l "+file)}
	if c.random.IntN(5) == 0 {
		args["cwd"] = pick(c, "src", "odd", c.root)
	}
	if c.random.IntN(5) == 0 {
		args["env"] = object{"GREETING": "hello"}
	}
	return message{line: t.call("bash", c.asked(args))}
}

// failing runs commands that do not end well.
func (c *caller) failing(t *talk) message {
	args := object{"command": pick(c, "exit 3", "cat out/go-test.txt; exit 1", "cat out/pytest.txt >&2; exit 2", "no-such-command-anywhere", "seq 1 2000; false", "kill -9 $$", "sleep 60")}
	if args["command"] == "sleep 60" {
		args["timeout_ms"] = 150
	}
	if c.random.IntN(6) == 0 {
		args["cwd"] = pick(c, "no-such-folder", "go.sum", "../..")
	}
	return message{line: t.call("bash", c.asked(args))}
}

func (c *caller) search(t *talk) message {
	args := object{"pattern": pick(c, "timeout", "func ", "error|fail", "needle", "^import", "total", "[0-9]{4}-[0-9]{2}", "limit", "日本", "return", "no such text anywhere", "\\bretry\\b")}
	switch c.random.IntN(4) {
	case 0:
		args["path"] = pick(c, "src", "logs", "odd", "conf/nginx.conf", "docs")
	case 1:
		args["paths"] = pick(c, []any{"src", "conf"}, []any{"logs/shop.log"}, []any{"odd", "no-such-folder"})
	case 2:
		args["glob"] = pick(c, "*.go", "*.{rs,toml}", "!*.log", "src/**")
	}
	for name, values := range map[string][]any{"fixed_string": {true, false}, "case_sensitive": {true, false}} {
		args[name] = values[len(name)%2] // the same in each run: the order of a map is not
	}
	if c.random.IntN(3) == 0 {
		args["output_mode"] = pick(c, "content", "files", "count")
	}
	if c.random.IntN(3) == 0 {
		args["context_lines"] = pick(c, 0, 1, 3)
	}
	if c.random.IntN(4) == 0 {
		args["max_matches"] = pick(c, 1, 20, 5000)
	}
	return message{line: t.call("grep", c.asked(args))}
}

func (c *caller) badSearch(t *talk) message {
	return message{line: t.call("grep", c.asked(pick(c,
		object{"pattern": "("}, object{"pattern": "[z-a]"}, object{"pattern": "x", "path": "no-such-folder"}, object{"pattern": "x", "path": "../"},
		object{"pattern": "needle", "path": "odd/link-out"}, object{"pattern": "needle", "path": "odd/binary.dat"}, object{"pattern": "needle", "cwd": "odd"},
		object{"pattern": "needle", "cwd": "no-such-folder"}, object{"pattern": "needle", "glob": "["}, object{"pattern": "(", "fixed_string": true}, object{"pattern": "a\x00b"},
	)))}
}

func (c *caller) shorten(t *talk) message {
	text := pick(c, "one line", "", "a\nb\nc\n", strings.Repeat("func f() {\n\treturn\n}\n", 60)+"func needle() {}\n",
		strings.Repeat("INFO nothing new\n", 300)+"ERROR the disk is full\n"+strings.Repeat("INFO nothing new\n", 200), strings.Repeat("Some prose about retries.\r\n\r\n", 90))
	args := object{"text": text, "goal_hint": pick(c, "where is needle", "why did it fail", "retries", ""), "source_type": pick(c, "code", "logs", "docs"),
		"options": object{"max_prune_ratio": pick(c, 0.0, 0.5, 0.9, 1.0), "min_keep_lines": pick(c, 0, 5, 100), "timeout_ms": 20_000,
			"annotate_lines": c.random.IntN(2) == 0, "include_markers": c.random.IntN(2) == 0}}
	return message{line: t.call("prune_text", args)}
}

func (c *caller) recover(t *talk) message {
	ranges := pick(c, []any{}, []any{object{"start_line": 1, "end_line": 5}}, []any{object{"start_line": 40, "end_line": 90}, object{"start_line": 3, "end_line": 3}},
		[]any{object{"start_line": 1, "end_line": 1_000_000}}, []any{object{"start_line": 900_000, "end_line": 900_001}}, []any{object{"start_line": 9, "end_line": 2}})
	args := object{"prune_id": t.original(c.random.IntN(8)), "ranges": ranges, "include_line_numbers": c.random.IntN(2) == 0}
	if c.random.IntN(3) == 0 {
		args["pattern"] = pick(c, "timeout", "error", "1", "no such text", "(")
		args["regex"] = c.random.IntN(2) == 0
	}
	return message{line: t.call("recover_text", args)}
}

// recoverByRead reads an original by its id.
func (c *caller) recoverByRead(t *talk) message {
	args := object{"file_path": t.original(c.random.IntN(5))}
	if c.random.IntN(2) == 0 {
		args["start_line"], args["end_line"] = 10, pick(c, 10, 60)
	}
	return message{line: t.call("read", c.asked(args))}
}

// ledger asks the tools of toolset gc, which most sessions do not offer. None of these answers depends on the time.
func (c *caller) ledger(t *talk) message {
	segment := fmt.Sprintf("s%d", 1+c.random.IntN(60))
	project := pick(c, contextgc.ProjectOf(c.root), contextgc.ProjectOf(c.root), "nowhere")
	tool, args := "context_get", object{"segment_id": segment, "project_id": project}
	switch c.random.IntN(4) {
	case 0:
		tool, args = "context_search", object{"query": pick(c, "timeout", "needle disk", "total"), "project_id": project}
	case 1:
		tool, args = pick(c, "context_gc_pin", "context_gc_unpin"), object{"segment_ids": []any{segment}, "project_id": project}
	case 2:
		tool, args = "context_gc_prune", object{"segment_ids": []any{segment}, "project_id": project, "action": pick(c, "stash", "delete")}
	}
	return message{line: t.call(tool, args)}
}

// protocol is everything that is not a proper tool call.
func (c *caller) protocol(t *talk) message {
	silent := c.random.IntN(8) == 0
	if silent {
		return message{pick(c, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}`, `{"jsonrpc":"2.0","method":"notifications/unknown"}`), true}
	}
	return message{line: pick(c,
		t.request("tools/list", object{}), t.request("tools/list", object{"cursor": "x"}), t.request("ping", object{}), t.request("no/such/method", object{}),
		t.request("server/discover", object{}), t.request("resources/list", object{}), t.request("prompts/list", object{}), t.call("no_such_tool", object{}),
		t.request("tools/call", object{"name": 3}), t.request("tools/call", object{}), t.request("tools/call", object{"name": "read", "arguments": []any{}}),
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `{"jsonrpc":"2.0","id":"a \u00e9","method":"ping"}`, `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":5}`, `[{"jsonrpc":"2.0","id":5,"method":"ping"}]`, `{"jsonrpc":`,
		"not JSON", "\"\xff\"", `7`,
		`{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"read","arguments":{"file_path":"go.sum"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"read","arguments":{"file_path":"out/files.txt"},"_meta":{"x-codex-turn-metadata":{"model":"other-model"}}}}`,
	)}
}
