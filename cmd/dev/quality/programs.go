package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/exact"
)

// program is a build of mcp-pruner and its figures.
type program struct {
	path  string
	free  table   // answers of the tools without a budget; paid counts o200k tokens
	limit []table // answers of prune --batch, one table per budget
}

// comparePrograms asks an older and a newer build the same questions: as an MCP client without a budget, where the
// whole text that the model gets is counted, and with prune --batch at every budget. It writes both builds' figures as
// a table.
func comparePrograms(w io.Writer, cases []benchCase, older, newer string) error {
	programs := []*program{{path: older}, {path: newer}}
	for _, p := range programs {
		if err := p.serve(cases); err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		if err := p.batch(cases); err != nil {
			return fmt.Errorf("%s prune --batch: %w", p.path, err)
		}
	}
	fmt.Fprintf(w, "| task | answers' lines at 10 %% | 20 %% | 30 %% | 50 %% | as it comes | o200k tokens as it comes, markers included |\n|%s\n", strings.Repeat("---|", 7))
	for _, task := range tasks(cases) {
		fmt.Fprintf(w, "| %s |", task)
		for b := range budgets {
			writeChange(w, cases, task, programs[0].limit[b], programs[1].limit[b], recallOf)
		}
		writeChange(w, cases, task, programs[0].free, programs[1].free, recallOf)
		writeChange(w, cases, task, programs[0].free, programs[1].free, paidOf)
		fmt.Fprintln(w)
	}
	return nil
}

// writeChange writes a table cell with the older mean, the newer one and their difference, in per cent.
func writeChange(w io.Writer, cases []benchCase, task string, older, newer table, of func(score) float64) {
	a, b := older.interval(cases, task, of).mean, newer.interval(cases, task, of).mean
	fmt.Fprintf(w, " %.1f → %.1f (%+.1f) |", 100*a, 100*b, 100*(b-a))
}

func paidOf(s score) float64 { return s.paid }

// serve asks every question of a new server process over stdio, so that no question influences another. A log is given
// as a command's output, any other text as a file. Lists of matches are pruned by `mcp-pruner prune`, because no tool
// accepts a list that already exists.
func (p *program) serve(cases []benchCase) error {
	root, err := os.MkdirTemp("", "quality")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	for i := range cases {
		c := &cases[i]
		ask := p.call
		if c.Task == "grep" {
			ask = p.prune
		}
		text, err := ask(root, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
		s := c.score(c.shown(text))
		s.paid = float64(exact.Count(text)) / float64(exact.Count(c.Text))
		p.free = append(p.free, s)
	}
	return nil
}

// call asks one question of a new server and returns the whole text of the answer. The case's text is written to a file
// in root.
func (p *program) call(root string, one *benchCase) (text string, err error) {
	name := one.fileName()
	if err := os.WriteFile(filepath.Join(root, name), []byte(one.Text), 0o600); err != nil {
		return "", err
	}
	env := []string{"HOME=" + root, "MCP_PRUNER_CWD=" + root, "MCP_PRUNER_LOG_LEVEL=error", "PRUNER_URL=embedded", "JEEVES_PRUNER_URL=embedded"}
	c, err := client.NewStdioMCPClient(p.path, env)
	if err != nil {
		return "", err
	}
	defer c.Close()
	ctx := context.Background()
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = "2025-06-18"
	hello.Params.ClientInfo = mcp.Implementation{Name: "quality", Version: "0"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return "", err
	}
	var call mcp.CallToolRequest
	args := map[string]any{"context_focus_question": one.Question, "max_output_bytes": 10 << 20}
	if call.Params.Name = "read"; one.Task == "logs" {
		call.Params.Name, args["command"] = "bash", "cat "+name
	} else {
		args["file_path"] = name
	}
	call.Params.Arguments = args
	result, err := c.CallTool(ctx, call)
	if err != nil {
		return "", err
	}
	for _, content := range result.Content {
		if part, ok := content.(mcp.TextContent); ok {
			text += part.Text + "\n"
		}
	}
	return strings.TrimSuffix(text, "\n"), nil
}

// prune passes one case's list of matches to `mcp-pruner prune` and returns its output.
func (p *program) prune(root string, c *benchCase) (string, error) {
	cmd := exec.Command(p.path, "prune", "-q", c.Question, "-k", "grep")
	cmd.Dir, cmd.Stdin = root, strings.NewReader(c.Text)
	text, err := cmd.Output()
	return strings.TrimSuffix(string(text), "\n"), err
}

// fileName returns the name of the text's file in its repository, or "text" if that is unknown.
func (c *benchCase) fileName() string {
	if name := filepath.Base(c.Meta.Path); c.Meta.Path != "" {
		return name
	}
	return "text"
}

// gapMark matches the marker of omitted lines in its present form and in its former one. The group is the last line's
// number; it is empty if one line was omitted.
var gapMark = regexp.MustCompile(`^(?:\.\.\. ?|⟦PRUNÉ: .*lignes? )\d+(?:-(\d+))?`)

// shown returns the 1-based numbers of the lines that an answer contains, ascending. The line numbers in the markers
// distinguish equal lines.
func (c *benchCase) shown(answer string) (kept []int) {
	at := 0 // number of lines before the current position in the text
	for _, line := range strings.Split(answer, "\n") {
		if m := gapMark.FindStringSubmatch(line); m != nil {
			if end, err := strconv.Atoi(m[1]); err == nil {
				at = end
			} else {
				at++
			}
			continue
		}
		for i := at; i < len(c.lines); i++ {
			if c.lines[i] == line {
				kept, at = append(kept, i+1), i+1
				break
			}
		}
	}
	return kept
}

// batch asks every question at every budget of one `mcp-pruner prune --batch` process.
func (p *program) batch(cases []benchCase) error {
	cmd := exec.Command(p.path, "prune", "--batch")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	to, from := json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))
	for _, budget := range budgets {
		scores := make(table, len(cases))
		for i := range cases {
			c := &cases[i]
			request := map[string]any{"question": c.Question, "text": c.Text, "source_type": c.SourceType, "budget": budget}
			var answer struct {
				Kept  []int
				Error string
			}
			if err := to.Encode(request); err != nil {
				return err
			}
			if err := from.Decode(&answer); err != nil {
				return err
			}
			if answer.Error != "" {
				return fmt.Errorf("%s: %s", c.ID, answer.Error)
			}
			scores[i] = c.score(answer.Kept)
		}
		p.limit = append(p.limit, scores)
	}
	_ = in.Close()
	return cmd.Wait()
}
