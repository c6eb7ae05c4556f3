//go:build !race

package tracecmd

const raceDetector = false
