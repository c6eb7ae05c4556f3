package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// records gets what was measured in the format of Go's benchmarks, for benchstat.
var records io.Writer = io.Discard

// record notes the median and the 99th percentile of a measure. benchstat knows measures by their names.
func record(measure, name string, times []time.Duration) {
	fmt.Fprintf(records, "Benchmark%s/%s %d %d ns/op %d p99-ns\n", measure, strings.ReplaceAll(name, " ", "_"), len(times),
		percentile(times, .5).Nanoseconds(), percentile(times, .99).Nanoseconds())
}
