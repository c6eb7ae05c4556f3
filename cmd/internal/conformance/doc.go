// Package conformance compares the code with the design: its tests compare the compiled tables, events, settings and
// argument constraints with their transcription in testdata/spec, in both directions.
package conformance
