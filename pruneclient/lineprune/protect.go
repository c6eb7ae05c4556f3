package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// protect keeps the lines that are kept whatever the question.
func (p *chooser) protect() []cause {
	keep := make([]cause, len(p.Doc.Lines))
	for i, yes := range Sealed(p.Doc.Lines) {
		if yes {
			keep[i] = guarded
		}
	}
	if p.Kind == doc.Logs && !p.budgeted() {
		p.keepAlarms(keep)
		p.keepFailing(keep)
		p.keepEnding(keep)
	}
	return keep
}

// keepAlarms keeps a log's errors whatever the question.
func (p *chooser) keepAlarms(keep []cause) {
	var alarms []int
	for i := range keep {
		if p.Relevance.Signal[i] >= doc.AlarmSignal {
			alarms = append(alarms, i)
		}
	}
	seen, last := map[uint64]int{}, map[uint64]int{}
	for _, i := range alarms {
		h := p.statementOf(i)
		seen[h]++
		last[h] = i
		if len(alarms) <= doc.FewAlarms || seen[h] <= doc.PerTemplate {
			keep[i] = alarm
		}
	}
	for _, i := range alarms {
		if last[p.statementOf(i)] == i {
			keep[i] = alarm
		}
	}
}

// keepFailing keeps the first failing tests, each from its name to the first place in the user's code.
func (p *chooser) keepFailing(keep []cause) {
	for _, at := range p.Relevance.Failing[:min(len(p.Relevance.Failing), doc.FewFailures)] {
		for i := at[0]; i < at[1]; i++ {
			keep[i] = alarm
		}
	}
}

// keepEnding keeps a log's last lines, which report its outcome.
func (p *chooser) keepEnding(keep []cause) {
	for i, n := len(keep)-1, 0; i >= 0 && n < doc.EndingLines; i-- {
		if p.Doc.Blank(i) {
			continue
		}
		if keep[i] == dropped {
			keep[i] = ending
		}
		n++
	}
}
