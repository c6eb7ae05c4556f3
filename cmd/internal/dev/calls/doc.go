// Package calls holds the calls of testdata/calls: what a model gets for realistic
// questions about realistic files and commands, through the whole server. Its test
// writes docs/CALLS.md. The inputs are made here, the same on every machine.
package calls
