package lineprune

import (
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// thinned returns a chooser in which repetitions of one log message score nothing, except the first few and
// the last: a program that retried all night failed for one reason.
func (p *chooser) thinned() *chooser {
	if p.Kind != doc.Logs || !p.Question.Failure {
		return p
	}
	thin := *p
	thin.statements = structure.Statements(p.Doc, !p.Question.Lists && !p.Question.Tests) // "which tests failed?" asks for their names
	thin.Relevance.Score = slices.Clone(p.Relevance.Score)
	again := repeats(thin.statements)
	for u, unit := range p.Outline.Units {
		if p.says(u, again) {
			continue
		}
		for i := unit.Start; i < unit.End; i++ {
			if again[i] {
				thin.Relevance.Score[i] = 0
			}
		}
	}
	return &thin
}

// repeats marks the lines that merely repeat a statement: all but its first few and its last. statements
// holds one number per line.
func repeats(statements []uint64) []bool {
	seen, left := map[uint64]int{}, map[uint64]int{}
	for _, s := range statements {
		left[s]++
	}
	again := make([]bool, len(statements))
	for i, s := range statements {
		seen[s]++
		left[s]--
		again[i] = seen[s] > doc.PerTemplate && left[s] > 0
	}
	return again
}

// says reports whether entry u has a sign of trouble that is not a repetition, such as a traceback like all
// the others that ends in a different error.
func (p *chooser) says(u int, again []bool) bool {
	unit := p.Outline.Units[u]
	for i := unit.Start; i < unit.End && unit.End-unit.Start <= doc.MaxEntry; i++ {
		if p.Relevance.Signal[i] >= doc.AlarmSignal && !again[i] {
			return true
		}
	}
	return false
}

// statementOf returns a hash that is equal for lines printed by the same statement.
func (p *chooser) statementOf(i int) uint64 {
	if p.statements != nil {
		return p.statements[i]
	}
	return structure.Template(p.Doc.Lines[i])
}
