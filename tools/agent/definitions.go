package agent

import (
	"slices"
	"strconv"
	"strings"
)

// Definitions are the sizes of the definitions of a client's own tools in one version, in tokens by this program's rule:
// "Bash=1010 Read=508". Source: the first request of a session, recorded against a mock model in an empty project.
type Definitions struct{ Version, Sizes string }

// tokens returns the sizes by name.
func (d Definitions) tokens() map[string]int {
	sizes := map[string]int{}
	for field := range strings.FieldsSeq(d.Sizes) {
		name, size, _ := strings.Cut(field, "=")
		sizes[name], _ = strconv.Atoi(size) // a test reads every size
	}
	return sizes
}

// claudeDefinitions were recorded headless with CLAUDE_CODE_ENABLE_TASKS=true: until 2.1.110 a session without a terminal has
// TodoWrite in place of the tools for tasks.
var claudeDefinitions = []Definitions{
	{"2.1.38", `Bash=3174 Task=1817 EnterPlanMode=1114 TaskUpdate=1017 Grep=915 AskUserQuestion=813 TaskCreate=766 ExitPlanMode=725 Read=638 ` +
		`WebSearch=508 WebFetch=488 Skill=456 Edit=418 NotebookEdit=380 TaskList=306 TaskGet=277 Glob=270 Write=251 TaskOutput=249 ` +
		`TaskStop=146`},
	{"2.1.49", `Bash=3043 Task=1784 EnterPlanMode=1114 AskUserQuestion=1058 TaskUpdate=1017 Grep=915 TaskCreate=766 ExitPlanMode=725 ` +
		`Read=638 WebSearch=501 WebFetch=488 Skill=456 Edit=418 NotebookEdit=380 TaskList=306 TaskGet=277 Glob=270 Write=251 ` +
		`TaskOutput=249 TaskStop=146`},
	{"2.1.110", `Bash=2969 Agent=1915 CronCreate=1177 EnterPlanMode=1114 AskUserQuestion=1057 TaskUpdate=1017 Grep=932 ScheduleWakeup=837 ` +
		`EnterWorktree=729 TaskCreate=698 ExitWorktree=625 ExitPlanMode=623 Read=622 WebSearch=501 WebFetch=483 Skill=456 Edit=414 ` +
		`TaskOutput=393 NotebookEdit=380 TaskList=306 TaskGet=277 Write=255 Glob=237 TaskStop=146 CronDelete=115 CronList=73`},
	{"2.1.160", `Workflow=5348 CronCreate=1177 EnterPlanMode=1113 AskUserQuestion=1051 TaskUpdate=1017 ScheduleWakeup=956 EnterWorktree=924 ` +
		`Agent=903 Grep=888 Bash=731 TaskCreate=698 ExitWorktree=625 ExitPlanMode=623 Read=440 Skill=424 TaskOutput=393 ` +
		`NotebookEdit=380 TaskList=306 TaskGet=277 Edit=259 WebSearch=221 WebFetch=196 Glob=188 Write=171 TaskStop=146 CronDelete=115 ` +
		`CronList=73`},
	{"2.1.205", `Workflow=5447 CronCreate=1177 ScheduleWakeup=1035 TaskUpdate=1017 EnterWorktree=989 Bash=725 TaskCreate=698 Agent=685 ` +
		`ExitWorktree=625 ReportFindings=516 Skill=516 NotebookEdit=442 Read=440 TaskOutput=392 SendMessage=364 TaskList=306 ` +
		`TaskGet=277 Edit=259 WebSearch=221 TaskStop=205 WebFetch=196 Write=171 CronDelete=115 CronList=73`},
	{"2.1.219", `Workflow=5544 CronCreate=1177 ScheduleWakeup=1032 TaskUpdate=1017 EnterWorktree=989 Bash=738 TaskCreate=698 Agent=665 ` +
		`ExitWorktree=625 ReportFindings=556 Skill=444 NotebookEdit=442 Read=440 TaskOutput=392 SendMessage=364 TaskList=306 ` +
		`TaskGet=277 Edit=259 WebSearch=221 TaskStop=205 WebFetch=196 Write=171 CronDelete=115 CronList=73`},
	{"2.1.270", `Workflow=1394 SendMessage=1260 ScheduleWakeup=1217 CronCreate=1177 EnterWorktree=989 Bash=749 Agent=729 ExitWorktree=625 ` +
		`ReportFindings=556 Skill=444 NotebookEdit=442 Read=429 TaskOutput=392 ListAgents=289 Edit=259 WebSearch=221 WebFetch=220 ` +
		`TaskStop=205 Write=171 CronDelete=115 CronList=73`},
	{"2.1.329", `Workflow=1464 Agent=1230 ScheduleWakeup=1217 Bash=1010 ReportFindings=617 Read=508 ListAgents=475 Skill=444 ToolSearch=381 ` +
		`Edit=259 Write=171`},
}

// Those of the others are the heaviest alone, estimated at four bytes a token.
var (
	codexDefinitions    = []Definitions{{"0.169.0", `multi_agent_v1=2540 update_goal=550 exec_command=410 request_user_input=360`}}
	geminiDefinitions   = []Definitions{{"0.61.0", `write_todos=1410 replace=1060 run_shell_command=590`}}
	opencodeDefinitions = []Definitions{{"1.18.33", `bash=1330 task=970 todowrite=680 edit=500`}}
)

// nearVersion is the distance of the last numbers of two versions that are taken to define tools alike.
const nearVersion = 20

// Defined returns the sizes of the client's own tools in a version: those of the nearest measured one, or where
// none is near, between two, the smaller size of the tools that both have. Where nothing was measured it returns nil.
func (c *Client) Defined(version string) map[string]int {
	at, ok := versionNumbers(version)
	if !ok {
		return nil
	}
	var near, before, after map[string]int
	nearest := nearVersion
	for _, d := range c.Definitions {
		v, _ := versionNumbers(d.Version)
		if away := max(v[2]-at[2], at[2]-v[2]); slices.Equal(v[:2], at[:2]) && away <= nearest {
			near, nearest = d.tokens(), away
		}
		if slices.Compare(v, at) < 0 {
			before = d.tokens()
		} else if after == nil {
			after = d.tokens()
		}
	}
	if near != nil {
		return near
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
