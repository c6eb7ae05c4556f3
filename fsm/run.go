package fsm

// States of a run.
const (
	RunInit     State = "run:init"
	RunDisabled State = "run:mcp_pruner_disabled"
	RunStarting State = "run:mcp_pruner_starting"
	RunRunning  State = "run:mcp_pruner_running"
	RunDegraded State = "run:mcp_pruner_degraded"
	RunShutdown State = "run:shutdown"
)

// Triggers of a run.
const (
	ConfigDisabled Trigger = "config_disabled"
	ConfigInvalid  Trigger = "config_invalid"
	ConfigResolved Trigger = "config_resolved"
	ServerReady    Trigger = "server_ready"
	SpawnFailed    Trigger = "spawn_failed" // the provider could not start the server or connect to it
	StartFailed    Trigger = "start_failed" // it did not become ready for another reason
	ServerFailed   Trigger = "server_failed"
	PhaseEnded     Trigger = "phase_ended"
)

// RunTable is the life of one run whose provider owns the server's process. Every row into
// run:mcp_pruner_disabled emits mcp_pruner.disabled, with its reason, as its last event.
func RunTable() Table {
	return Table{
		Name:     "run",
		Initial:  RunInit,
		Terminal: []State{RunShutdown},
		Rows: []Row{
			{RunInit, ConfigDisabled, RunDisabled, "mcp_pruner.disabled", "", "T1"},
			{RunInit, ConfigResolved, RunStarting, "", "", "T2"},
			{RunInit, ConfigInvalid, RunDisabled, "mcp_pruner.config_invalid mcp_pruner.disabled", "", "E1"},
			{RunStarting, ServerReady, RunRunning, "mcp_pruner.ready", "", "T3"},
			{RunStarting, SpawnFailed, RunDisabled, "mcp_pruner.spawn_error mcp_pruner.start_failed mcp_pruner.disabled", "", "T4 E2"},
			{RunStarting, StartFailed, RunDisabled, "mcp_pruner.start_failed mcp_pruner.disabled", "", "T4"},
			{RunRunning, ServerFailed, RunDegraded, "mcp_pruner.degraded", "", "T5 E3"},
			{RunRunning, PhaseEnded, RunShutdown, "", "", "T6"},
			{RunDisabled, PhaseEnded, RunShutdown, "mcp_pruner.not_running", "", "T7"},
			{RunDegraded, PhaseEnded, RunShutdown, "mcp_pruner.shutdown_after_degraded", "", "T8"},
		},
	}
}
