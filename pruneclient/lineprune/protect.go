package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// protected keeps the lines that are kept whatever the question.
func (in input) protected() []cause {
	keep := make([]cause, len(in.Doc.Lines))
	for i, yes := range Sealed(in.Doc.Lines) {
		if yes {
			keep[i] = guarded
		}
	}
	for _, part := range in.parts {
		for i := part[0]; i < part[1] && !in.budgeted(); i++ {
			keep[i] = asked
		}
	}
	if in.Kind == doc.Logs && !in.budgeted() {
		in.keepAlarms(keep)
		in.keepFailing(keep)
		in.keepEnding(keep)
	}
	return keep
}

// keepAlarms keeps a log's errors whatever the question.
func (in input) keepAlarms(keep []cause) {
	var alarms []int
	for i := range keep {
		if in.Relevance.Signal[i] >= doc.AlarmSignal {
			alarms = append(alarms, i)
		}
	}
	seen, last := map[uint64]int{}, map[uint64]int{}
	for _, i := range alarms {
		h := in.statementOf(i)
		seen[h]++
		last[h] = i
		if len(alarms) <= doc.FewAlarms || seen[h] <= doc.PerTemplate {
			keep[i] = alarm
		}
	}
	for _, i := range alarms {
		if last[in.statementOf(i)] == i {
			keep[i] = alarm
		}
	}
}

// keepFailing keeps the first failing tests, each from its name to the first place in the user's code.
func (in input) keepFailing(keep []cause) {
	for _, at := range in.Relevance.Failing[:min(len(in.Relevance.Failing), doc.FewFailures)] {
		for i := at[0]; i < at[1]; i++ {
			keep[i] = alarm
		}
	}
}

// keepEnding keeps a log's last lines, which report its outcome.
func (in input) keepEnding(keep []cause) {
	for i, n := len(keep)-1, 0; i >= 0 && n < doc.EndingLines; i-- {
		if in.Doc.Blank(i) {
			continue
		}
		if keep[i] == dropped {
			keep[i] = ending
		}
		n++
	}
}
