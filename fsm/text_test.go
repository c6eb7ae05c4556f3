package fsm

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTextLog(t *testing.T) {
	var b bytes.Buffer
	log := TextSinkAt(&b, LevelInfo)
	at := time.Date(2026, 11, 21, 4, 5, 6, 7000, time.UTC)
	log(at, NewEvent("tool.exec_start", "req_1", Facts{"tool": "bash"})) // below the level
	log(at, NewEvent("tool.exec_failed", "req_1", Facts{
		"tool": "bash", "code": "nonzero_exit", "message": `a "b"` + "\n<c>", "exit_code": 3, "duration_ms": int64(12),
	}))
	log(at, NewEvent("mcp_pruner.disabled", "", Facts{"reason": ""}))
	assert.Equal(t, `2026-11-21T04:05:06.000007Z WARN  tool.exec_failed request_id=req_1 tool=bash code=nonzero_exit message="a \"b\"\n<c>" exit_code=3 duration_ms=12
2026-11-21T04:05:06.000007Z INFO  mcp_pruner.disabled reason=""
`, b.String())
}
