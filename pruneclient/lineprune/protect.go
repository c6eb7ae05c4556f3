package lineprune

import "strings"

// Directives that protect what stands between them, each alone on its line.
const (
	noPruneBegin = "⟦NO_PRUNE_BEGIN⟧"
	noPruneEnd   = "⟦NO_PRUNE_END⟧"
)

// protect keeps the lines that stay whatever the question.
func (p *pruning) protect() []cause {
	keep := make([]cause, len(p.d.lines))
	for i, yes := range Sealed(p.d.lines) {
		if yes {
			keep[i] = guarded
		}
	}
	if p.kind == Logs && !p.budgeted() {
		p.keepAlarms(keep)
		p.keepEnding(keep)
	}
	return keep
}

// Sealed says of every line whether it stays whatever the question: directives with
// what they enclose, and the markers an earlier prune left.
func Sealed(lines []string) []bool {
	keep := make([]bool, len(lines))
	inside := false
	for i, line := range lines {
		keep[i] = inside
		if strings.IndexByte(line, escape) >= 0 {
			line = withoutEscapes(line)
		}
		if line == "" || !mayMark(line[firstVisible(line)]) {
			continue
		}
		switch text := strings.TrimSpace(line); {
		case text == noPruneBegin:
			inside, keep[i] = true, true
		case text == noPruneEnd:
			inside = false
		case isMarker(text):
			keep[i] = true
		}
	}
	return keep
}

// mayMark is true of the bytes a directive or marker can begin with.
func mayMark(c byte) bool { return c == '(' || c == '[' || c >= 0x80 }

func firstVisible(line string) int {
	for i := 0; i < len(line); i++ {
		if class[line[i]] != space {
			return i
		}
	}
	return 0
}

// isMarker knows the lines pruners leave: ours and the swe-pruner service's.
func isMarker(text string) bool {
	return strings.HasPrefix(text, markerOpen) && strings.HasSuffix(text, markerClose) ||
		strings.HasPrefix(text, "(filtered ") && strings.HasSuffix(text, " lines)") ||
		strings.HasPrefix(text, headerOpen)
}

// Alarms: a line whose signal is at least alarmSignal, all of them when they are
// few, else the first and the last of each template.
const (
	alarmSignal = 0.7
	fewAlarms   = 40
	perTemplate = 3
	endingLines = 3
)

// keepAlarms keeps a log's errors whatever the question.
func (p *pruning) keepAlarms(keep []cause) {
	var alarms []int
	for i := range keep {
		if p.relevance.signal[i] >= alarmSignal {
			alarms = append(alarms, i)
		}
	}
	seen, last := map[uint64]int{}, map[uint64]int{}
	for _, i := range alarms {
		h := p.statementOf(i)
		seen[h]++
		last[h] = i
		if len(alarms) <= fewAlarms || seen[h] <= perTemplate {
			keep[i] = alarm
		}
	}
	for _, i := range alarms {
		if last[p.statementOf(i)] == i {
			keep[i] = alarm
		}
	}
}

// keepEnding keeps a log's last lines, where it says how it ended.
func (p *pruning) keepEnding(keep []cause) {
	for i, n := len(keep)-1, 0; i >= 0 && n < endingLines; i-- {
		if p.d.blank(i) {
			continue
		}
		if keep[i] == dropped {
			keep[i] = ending
		}
		n++
	}
}
