// Package conformance holds the code against the design: its tests compare the
// tables, events, settings and argument constraints that are compiled in with
// their transcription in testdata/spec, in both directions.
package conformance
