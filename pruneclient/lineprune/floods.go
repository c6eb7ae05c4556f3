package lineprune

import (
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// thinned returns an input in which repetitions of one log message score nothing, except the first few and
// the last: a program that retried all night failed for one reason.
func (in input) thinned() input {
	if in.Kind != doc.Logs || !in.Question.Failure {
		return in
	}
	in.statements = structure.Statements(in.Doc, !in.Question.Lists && !in.Question.Tests) // "which tests failed?" asks for their names
	in.Relevance.Score = slices.Clone(in.Relevance.Score)
	again := repeats(in.statements)
	for u, unit := range in.Outline.Units {
		if in.says(u, again) {
			continue
		}
		for i := unit.Start; i < unit.End; i++ {
			if again[i] {
				in.Relevance.Score[i] = 0
			}
		}
	}
	return in
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
func (in input) says(u int, again []bool) bool {
	unit := in.Outline.Units[u]
	for i := unit.Start; i < unit.End && unit.End-unit.Start <= doc.MaxEntry; i++ {
		if in.Relevance.Signal[i] >= doc.AlarmSignal && !again[i] {
			return true
		}
	}
	return false
}

// statementOf returns a hash that is equal for lines printed by the same statement.
func (in input) statementOf(i int) uint64 {
	if in.statements != nil {
		return in.statements[i]
	}
	return structure.Template(in.Doc.Lines[i])
}
