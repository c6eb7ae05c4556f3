package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/running"
	"github.com/rogpeppe/go-internal/txtar"
)

// home is the made-up home folder of testdata/upgrade. The program gets it in a namespace of its own, so that no file names
// a path or a host of the machine on which it was written: a trace is sealed and cannot be changed afterwards.
const home = "/home/user"

// namespace runs its arguments with an empty home folder and on a host of another name.
const namespace = `mount -t tmpfs tmpfs /home && mkdir -p ` + home + ` && hostname workstation && exec "$@"`

// keepState writes the home folder that a program leaves, and what the program says about it, into a folder.
func keepState(program, folder string) error {
	dir, err := os.MkdirTemp("", "upgrade")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	own, err := os.Executable()
	if err != nil {
		return err
	}
	for from, to := range map[string]string{program: "mcp-pruner", own: "upgrade"} { // their own folders may be hidden
		if err := copyFile(from, filepath.Join(dir, to), 0o700); err != nil {
			return err
		}
	}
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "--uts", "sh", "-c", namespace, "sh", filepath.Join(dir, "upgrade"), "-inside", dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	for _, name := range []string{homeFile, saidFile} {
		if err := copyFile(filepath.Join(dir, name), filepath.Join(folder, name), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// The files of testdata/upgrade.
const (
	homeFile = "home.tar.gz"
	saidFile = "said.txtar"
)

func copyFile(from, to string, mode os.FileMode) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, mode)
}

// inside does the work in the namespace. dir has the program, and gets the files.
func inside(dir string) error {
	h := house{program: filepath.Join(home, "bin/mcp-pruner")}
	if err := os.MkdirAll(filepath.Join(home, state), 0o700); err != nil { // the recovery store needs its folder
		return err
	}
	for name, text := range usersFiles {
		if err := plant(name, text); err != nil {
			return err
		}
	}
	if err := copyFile(filepath.Join(dir, "mcp-pruner"), h.program, 0o700); err != nil {
		return err
	}
	for _, step := range []func() error{h.serve, h.hooks, h.proxy, h.run, h.configure} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := pack(filepath.Join(dir, homeFile)); err != nil {
		return err
	}
	return h.say(filepath.Join(dir, saidFile))
}

// plant writes a file below the home folder.
func plant(name, text string) error {
	file := filepath.Join(home, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o700)
}

// pack writes the home folder without the program.
func pack(to string) (err error) {
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	packed := gzip.NewWriter(file)
	archive := tar.NewWriter(packed)
	defer func() { err = errors.Join(err, archive.Close(), packed.Close(), file.Close()) }()
	return filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || path == filepath.Join(home, "bin/mcp-pruner") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, home+"/")
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: int64(info.Mode().Perm()), Size: int64(len(text)), ModTime: info.ModTime()}); err != nil {
			return err
		}
		_, err = archive.Write(text)
		return err
	})
}

// usersFiles are what the user has before the program runs for the first time, by path below the home folder.
var usersFiles = map[string]string{
	".claude.json":                   `{"numStartups": 7, "mcpServers": {"files": {"type": "stdio", "command": "files-server", "args": ["--root", "shop"]}}}` + "\n",
	".claude/settings.json":          "{\n    \"model\": \"opus\",\n    \"permissions\": {\"allow\": [\"Bash(ls:*)\"]}\n}\n",
	".codex/config.toml":             "# my settings\nmodel = \"gpt-5.5\"\n\n[mcp_servers.files]\ncommand = \"files-server\" # from npm\n",
	".gemini/settings.json":          "{\n  // comments are allowed here\n  \"theme\": \"dark\"\n}\n",
	".config/opencode/opencode.json": "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\"files\": {\"type\": \"local\", \"command\": [\"files-server\"]}}\n}\n",
	"shop/.git/HEAD":                 "ref: refs/heads/main\n",
	"shop/service.log":               strings.Repeat("2026-01-02T03:04:05Z INFO request served in 12 ms by worker 7\n", 150) + "ERROR: order 4711 was refused, the card has expired\n",
	"shop/order.go":                  "package order\n\n" + strings.Repeat("// Total adds up the lines.\nfunc Total() int { return 0 }\n\n", 60) + "func refund() int { return 1 }\n",
	"shop/build.log":                 strings.Repeat("compiling one of the many packages of the shop\n", 120) + "error: refund.go:17: undefined: rate\n" + strings.Repeat("compiling another package\n", 60),
	"bin/claude": `#!/bin/sh
echo '{"type":"system","subtype":"init","tools":["mcp__pruner__read"],"mcp_servers":[{"name":"pruner","status":"connected","source":"dynamic"}]}'
echo '{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"b","name":"mcp__pruner__read","input":{}}]}}'
echo '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"x"}]}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"done"}'
`,
}

// state is the program's folder below the home folder.
const state = ".local/state/mcp-pruner"

// environment is that of every program. A server keeps its originals in a file.
func environment() []string {
	return []string{
		"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC", "PRUNER_URL=embedded",
		"MCP_PRUNER_TOOLSETS=core,text", "MCP_PRUNER_RECOVERY_STORE=" + filepath.Join(home, state, "recovery.db"),
	}
}

// house is a user's home folder in which the program works.
type house struct {
	program string
	served  []string // ids of originals that the server gave out
	ids     []string // those of the hook and the proxy
}

// once runs the program in the user's project and returns its output, whatever its exit status.
func (h *house) once(stdin string, env []string, args ...string) (stdout, stderr string, err error) {
	cmd := exec.Command(h.program, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env = filepath.Join(home, "shop"), append(environment(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// found adds the ids in a text.
func found(ids []string, text string) []string {
	for _, id := range anOriginal.FindAllString(text, -1) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// serve asks a server over its standard streams, and keeps its event log.
func (h *house) serve() error {
	var lines strings.Builder
	ask := func(method string, params object) {
		lines.WriteString(encode(object{"jsonrpc": "2.0", "id": lines.Len() + 1, "method": method, "params": params}) + "\n")
	}
	call := func(tool string, args object) { ask("tools/call", object{"name": tool, "arguments": args}) }
	ask("initialize", object{"protocolVersion": "2025-11-25", "capabilities": object{}, "clientInfo": object{"name": "codex-mcp-client", "version": "1"}})
	call("read", object{"file_path": "service.log", "context_focus_question": "why was order 4711 refused"})
	call("bash", object{"command": "cat order.go", "context_focus_question": "where is refund"})
	call("grep", object{"pattern": "Total"})
	call("read", object{"file_path": "none.txt"})
	out, errs, err := h.once(lines.String(), []string{"MCP_PRUNER_TOOLSETS=core,text,gc", "MCP_PRUNER_TRACE=" + filepath.Join(home, state, "trace.jsonl")})
	if err != nil {
		return fmt.Errorf("serve: %w: %s", err, errs)
	}
	h.served = found(h.served, out)
	return plant(filepath.Join(state, "server-events.jsonl"), errs)
}

// hooks plays three results of Claude Code, whose transcript is where Claude Code keeps it.
func (h *house) hooks() error {
	transcript := ".claude/projects/-home-user-shop/s.jsonl"
	written := ""
	for i, file := range []string{"service.log", "build.log"} {
		id, path := fmt.Sprintf("t%d", i), filepath.Join(home, "shop", file)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		input := object{"command": "cat " + file, "description": "Find the error"}
		written += encode(object{"type": "assistant", "sessionId": "s", "message": object{"id": "m" + id, "usage": object{"input_tokens": 5, "output_tokens": 9,
			"cache_read_input_tokens": 9000, "cache_creation_input_tokens": 3000}, "content": []any{object{"type": "tool_use", "id": id, "name": "Bash", "input": input}}}}) + "\n"
		if err := plant(transcript, written); err != nil {
			return err
		}
		event := object{"session_id": "s", "cwd": filepath.Join(home, "shop"), "transcript_path": filepath.Join(home, transcript), "hook_event_name": "PostToolUse",
			"tool_name": "Bash", "tool_input": input, "tool_use_id": id,
			"tool_response": object{"stdout": string(text), "stderr": "", "interrupted": false, "isImage": false}}
		out, errs, err := h.once(encode(event), nil, "hook", "claude")
		if err != nil {
			return fmt.Errorf("hook: %w: %s", err, errs)
		}
		h.ids = found(h.ids, out)
		written += encode(object{"type": "user", "sessionId": "s", "message": object{"role": "user", "content": []any{
			object{"type": "tool_result", "tool_use_id": id, "content": "cut"}}}}) + "\n"
	}
	return plant(transcript, written)
}

// run runs the made-up client.
func (h *house) run() error {
	_, errs, err := h.once("", nil, "run", "--provider", "claude", "--pruner", "embedded", "--trace", filepath.Join(home, state, "run.jsonl"), "--", "look around")
	if err != nil {
		return fmt.Errorf("run: %w: %s", err, errs)
	}
	return nil
}

// configure lets the program edit the files of all clients.
func (h *house) configure() error {
	for _, args := range configurations {
		if _, errs, err := h.once("", nil, strings.Fields(args)...); err != nil {
			return fmt.Errorf("%s: %w: %s", args, err, errs)
		}
	}
	return nil
}

// configurations are the edits of clients' files. Their undoing takes place in the opposite order.
var configurations = []string{
	"init claude --hooks --mcp --proxy", "init codex --hooks --mcp", "init gemini --hooks --mcp", "init opencode --hooks --mcp --proxy",
	"gateway init claude", "gateway init codex", "gateway init opencode",
}

// say writes what the program says about its folder.
func (h *house) say(file string) error {
	var archive txtar.Archive
	archive.Comment = []byte("What the program said about the folder in home.tar.gz when it had made it: command lines, exit status and standard output.\n" +
		"`upgrade` writes both. The test of cmd/mcp-pruner runs the lines again, with the program of today.\n")
	for _, line := range h.lines() {
		stdin, args := "", strings.Fields(line)
		if strings.HasPrefix(line, "{") {
			stdin, args = line, nil
		}
		out, errs, err := h.once(stdin, nil, args...)
		status := 0
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			status = ended.ExitCode()
		} else if err != nil {
			return err
		}
		if status != 0 {
			fmt.Println(line, status, errs)
		}
		archive.Files = append(archive.Files, txtar.File{Name: line, Data: []byte(fmt.Sprintf("exit %d\n%s\n", status, abridged(line, out)))})
	}
	return os.WriteFile(file, txtar.Format(&archive), 0o600)
}

// abridged returns of a long text its hash and its size, and of a trace's statistics the verdict, because the rest
// depends on what is known of the client.
func abridged(line, out string) string {
	var stats struct{ Verdict json.RawMessage }
	if strings.HasPrefix(line, "trace stats --json") && json.Unmarshal([]byte(out), &stats) == nil {
		return string(stats.Verdict)
	}
	if len(out) > 2000 {
		return fmt.Sprintf("sha256 %x of %d bytes", sha256.Sum256([]byte(out)), len(out))
	}
	return strings.TrimSuffix(out, "\n")
}

// lines returns the command lines. Those that begin with a brace are for the server.
func (h *house) lines() (all []string) {
	for _, id := range h.ids {
		all = append(all, "recover "+id, "recover "+id+" --lines 3-4", "recover "+id+" --pattern error:|4711")
	}
	for _, id := range h.served {
		all = append(all, encode(object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": "recover_text",
			"arguments": object{"prune_id": id, "ranges": []any{object{"start_line": 1, "end_line": 1000}}, "include_line_numbers": true}}}))
	}
	trace := filepath.Join(home, state, "trace.jsonl")
	all = append(all, "gain", "gain --json", "gc get s1", "gc get s3", "gc search refused", "gc pin --segment-ids s1", "gc unpin --segment-ids s1",
		"gc prune --segment-ids s2 --action stash", "gc get s2",
		"trace verify "+trace, "trace verify --heads "+filepath.Join(home, state, "server-events.jsonl")+" "+trace, "trace stats --json "+trace,
		"trace verify "+filepath.Join(home, state, "run.jsonl"), "trace stats --json "+filepath.Join(home, state, "run.jsonl"),
		"trace verify "+filepath.Join(home, state, "hook-trace.jsonl"), "trace verify "+filepath.Join(home, state, "proxy-trace.jsonl"))
	all = append(all, configurations...)
	for _, args := range slices.Backward(configurations) {
		undo, _, _ := strings.Cut(args, " --hooks")
		flags := strings.TrimPrefix(args, undo)
		all = append(all, undo+flags+" --uninstall")
	}
	return all
}

// proxy sends a conversation until results are cleared. What the model's API gets names their ids.
func (h *house) proxy() error {
	received := make(chan []byte, 1)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // of a part no id is found
		received <- body
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"m","usage":{"input_tokens":900,"cache_read_input_tokens":100,"output_tokens":20},"content":[{"type":"text","text":"done"}]}`)
	}))
	defer api.Close()
	cmd := exec.Command(h.program, "proxy", "--policy", "both", "--upstream", api.URL)
	cmd.Dir, cmd.Env = filepath.Join(home, "shop"), environment()
	address, end, err := running.Proxy(cmd, patience)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(home, "shop/service.log"))
	if err != nil {
		return err
	}
	messages := []any{object{"role": "user", "content": "Find the refused orders."}}
	for i := range 14 {
		id := fmt.Sprintf("p%d", i)
		messages = append(messages, object{"role": "assistant", "content": []any{object{"type": "tool_use", "id": id, "name": "Bash", "input": object{"command": fmt.Sprintf("journal %d", i)}}}},
			object{"role": "user", "content": []any{object{"type": "tool_result", "tool_use_id": id, "content": fmt.Sprintf("part %d\n%s", i, text)}}})
		body := encode(object{"model": "claude", "max_tokens": 100, "messages": messages})
		answer, err := http.Post(address+"/v1/messages", "application/json", strings.NewReader(body))
		if err != nil {
			return err
		}
		if err := answer.Body.Close(); err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("the proxy answered %s", answer.Status)
		}
		h.ids = found(h.ids, string(<-received))
	}
	return end()
}

// patience is the longest wait for the proxy's end.
const patience = 90 * time.Second

// anOriginal matches the ids of originals.
var anOriginal = regexp.MustCompile(`\bprn_[0-9a-f]{8,}\b`)

// object is a JSON object.
type object = map[string]any

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps, slices and strings only
	}
	return string(b)
}
