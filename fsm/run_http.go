package fsm

// Triggers of a run that owns its server's process. They are in addition to those of every
// run.
const (
	StartTimedOut     Trigger = "start_timed_out"
	ServerExited      Trigger = "server_exited"
	ServerUnreachable Trigger = "server_unreachable"
)

// HTTPRunTable is the life of one run that owns the process of an HTTP server. Spec cites
// the row numbers of the HTTP design, whose error rows differ from those of stdio. Its E6,
// a server that refuses to exit, has no row of its own: the event mcp_pruner.kill_escalated
// precedes the event of the row into run:shutdown.
func HTTPRunTable() Table {
	return Table{
		Name:     "run-http",
		Initial:  RunInit,
		Terminal: []State{RunShutdown},
		Rows: []Row{
			{RunInit, ConfigDisabled, RunDisabled, "mcp_pruner.disabled", "", "T1"},
			{RunInit, ConfigResolved, RunStarting, "", "", "T2"},
			{RunInit, ConfigInvalid, RunDisabled, "mcp_pruner.config_invalid mcp_pruner.disabled", "", "E1"},
			{RunStarting, ServerReady, RunRunning, "mcp_pruner.ready", "", "T3"},
			{RunStarting, SpawnFailed, RunDisabled, "mcp_pruner.spawn_error mcp_pruner.start_failed mcp_pruner.disabled", "", "T4 E2"},
			{RunStarting, StartTimedOut, RunDisabled, "mcp_pruner.start_timeout mcp_pruner.start_failed mcp_pruner.disabled", "", "T4 E3"},
			{RunStarting, StartFailed, RunDisabled, "mcp_pruner.start_failed mcp_pruner.disabled", "", "T4"},
			{RunRunning, ServerExited, RunDegraded, "mcp_pruner.exited mcp_pruner.degraded", "", "T5 E4"},
			{RunRunning, ServerUnreachable, RunDegraded, "mcp_pruner.unreachable mcp_pruner.degraded", "", "T5 E5"},
			{RunRunning, PhaseEnded, RunShutdown, "mcp_pruner.stopped", "", "T6"},
			{RunDisabled, PhaseEnded, RunShutdown, "mcp_pruner.not_running", "", "T7"},
			{RunDegraded, PhaseEnded, RunShutdown, "mcp_pruner.shutdown_after_degraded", "", "T8"},
		},
	}
}
