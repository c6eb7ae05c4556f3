package lineprune

import "strings"

// signals are the words that mark a line of a log as trouble, with their weight.
var signals = []struct {
	word   string
	weight float64
}{
	{"panic:", 1}, {"traceback", 1}, {"fatal", 1}, {"--- fail", 1}, {"critical", 1}, {"exception", 1}, {"segfault", 1}, {"not ok", 1},
	{"out of memory", 1}, {"assertion", 1}, {"error", 0.9}, {"failed", 0.8}, {"fail:", 1}, {"undefined", 0.6}, {"warning", 0.4},
	{"refused", 0.6}, {"denied", 0.6}, {"no such", 0.6}, {"not found", 0.6}, {"cannot", 0.6}, {"failing", 0.7}, {"failure", 0.7},
	{"expected", 0.6}, {"want", 0.3}, {"killed", 0.7}, {"aborted", 0.7},
}

// signal says how much a line of a log looks like trouble, 0..1.
func signal(line string) float64 {
	if len(line) > 400 {
		line = line[:400]
	}
	line = strings.ToLower(line)
	best := 0.0
	for _, s := range signals {
		if s.weight > best && strings.Contains(line, s.word) {
			best = s.weight
		}
	}
	return best
}
