package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
)

func TestPruneCode(t *testing.T) {
	s := newService(t, service.Settings{})
	code := haystack(400)
	ask := service.CodeArgs{Code: code, Query: needleGoal}
	res, err := s.PruneCode(t.Context(), ask)
	require.NoError(t, err)
	assert.Contains(t, res.PrunedCode, "the quaternion normaliser divides")
	assert.Regexp(t, `(?m)^\(filtered \d+ lines\)$`, res.PrunedCode)
	assert.Nil(t, res.ErrorMsg)
	assert.NotNil(t, res.TokenScores)
	assert.Contains(t, res.KeptFrags, 400/3+1)
	assert.Less(t, res.LeftTokenCnt, res.OriginTokenCnt)
	lines := linesOf(code)
	for _, n := range res.KeptFrags {
		require.Contains(t, res.PrunedCode, lines[n-1])
	}

	ask.KeepFirst = true
	first, err := s.PruneCode(t.Context(), ask)
	require.NoError(t, err)
	assert.Equal(t, 1, first.KeptFrags[0])
	assert.True(t, strings.HasPrefix(first.PrunedCode, lines[0]+"\n"))
}

// The higher the threshold, the less is kept, whatever the gates think of it.
func TestPruneCodeThreshold(t *testing.T) {
	s := newService(t, service.Settings{})
	var log strings.Builder
	for i := range 300 {
		fmt.Fprintf(&log, "2024-01-01 12:00:%02d INFO worker %d did thing %d\n", i%60, i%5, i)
	}
	for name, ask := range map[string]service.CodeArgs{
		"answered":     {Code: haystack(400), Query: needleGoal},
		"not answered": {Code: haystack(400), Query: "zebra crossing"},
		"first kept":   {Code: haystack(400), Query: needleGoal, KeepFirst: true},
		"log":          {Code: log.String() + "ERROR upload failed: timeout\n", Query: "which upload failed"},
		"one line":     {Code: "ERROR: disk full on /dev/sda1 while writing upload of the file", Query: "disk"},
	} {
		lines, left := len(linesOf(ask.Code)), 1<<30
		for _, threshold := range []float64{-1, 0, 0.05, 0.1, 0.2, 0.35, 0.4, 0.49, 0.5, 0.51, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 1, 9} {
			ask.Threshold = &threshold
			res, err := s.PruneCode(t.Context(), ask)
			require.NoError(t, err)
			require.NotNil(t, res.KeptFrags)
			require.LessOrEqual(t, len(res.KeptFrags), lines, "%s, %g", name, threshold)
			require.LessOrEqual(t, res.LeftTokenCnt, left, "%s, %g", name, threshold)
			lines, left = len(res.KeptFrags), res.LeftTokenCnt
		}
		if name == "answered" {
			assert.Less(t, lines, 20)
		}
	}
}

func TestPruneCodeFailsOpen(t *testing.T) {
	s := newService(t, service.Settings{MaxInputChars: 10})
	res, err := s.PruneCode(t.Context(), service.CodeArgs{Code: "one line\nanother line\n", Query: "q"})
	require.NoError(t, err)
	assert.Equal(t, "one line\nanother line\n", res.PrunedCode)
	assert.Equal(t, []int{1, 2}, res.KeptFrags)
	require.NotNil(t, res.ErrorMsg)
	assert.Equal(t, service.InputTooLarge, *res.ErrorMsg)
}
