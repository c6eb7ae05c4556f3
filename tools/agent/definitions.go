package agent

import (
	"slices"
	"strconv"
	"strings"
)

// Definitions are the sizes in tokens of the definitions of a client's own tools in one version: the heaviest, as its first
// request had them. Source: requests recorded against a mock model in an empty project, tokens estimated at four bytes.
type Definitions struct {
	Version string
	Tokens  map[string]int
}

// claudeDefinitions leaves out TodoWrite (2,620 in 2.1.49), which Claude Code defines only where it runs headless.
var claudeDefinitions = []Definitions{
	{"2.1.49", map[string]int{"Bash": 3120, "Task": 1900, "EnterPlanMode": 1080, "AskUserQuestion": 1080, "Grep": 850}},
	{"2.1.329", map[string]int{
		"Workflow": 1450, "Agent": 1340, "ScheduleWakeup": 1250, "Bash": 990, "ReportFindings": 630, "ListAgents": 510, "Read": 490, "Skill": 460,
	}},
}

var codexDefinitions = []Definitions{
	{"0.169.0", map[string]int{"multi_agent_v1": 2540, "update_goal": 550, "exec_command": 410, "request_user_input": 360}},
}

var geminiDefinitions = []Definitions{{"0.61.0", map[string]int{"write_todos": 1410, "replace": 1060, "run_shell_command": 590}}}

var opencodeDefinitions = []Definitions{{"1.18.33", map[string]int{"bash": 1330, "task": 970, "todowrite": 680, "edit": 500}}}

// nearVersion is the distance of the last numbers of two versions that are taken to define tools alike.
const nearVersion = 20

// Defined returns the sizes of the client's own tools in a version: those of a measured one that is near, or between two
// measured ones the smaller size of the tools that both have. Where nothing was measured it returns nil.
func (c *Client) Defined(version string) map[string]int {
	at, ok := versionNumbers(version)
	if !ok {
		return nil
	}
	var before, after map[string]int
	for _, d := range c.Definitions {
		v, _ := versionNumbers(d.Version)
		if slices.Equal(v[:2], at[:2]) && max(v[2]-at[2], at[2]-v[2]) <= nearVersion {
			return d.Tokens
		}
		if slices.Compare(v, at) < 0 {
			before = d.Tokens
		} else if after == nil {
			after = d.Tokens
		}
	}
	both := map[string]int{}
	for name, tokens := range before {
		if other, ok := after[name]; ok {
			both[name] = min(tokens, other)
		}
	}
	return both
}

// versionNumbers returns the three numbers of a version.
func versionNumbers(version string) (numbers []int, ok bool) {
	version, _, _ = strings.Cut(version, "-")
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	return numbers, len(numbers) == 3
}
