package settings

import (
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

// table lists all settings. To add one, add a row here, a field of Settings and a row of testdata/spec/settings.md;
// "go test ./cmd/internal/settings -update" then writes the pages under docs/.
func table() []Row {
	var rows []Row
	for _, part := range [][]Row{prunerRows(), toolRows(), recoveryRows(), traceRows(), httpRows(), doorRows(), serviceRows(), runnerRows()} {
		rows = append(rows, part...)
	}
	return rows
}

// both are the programs whose tools' output is pruned.
const both = Stdio | HTTP

func prunerRows() []Row {
	return []Row{
		{Name: "PRUNER_URL", For: both, Default: "http://localhost:8000/prune",
			Allowed: `an http or https URL, "embedded", or empty to turn pruning off`,
			Meaning: "Where output is pruned: the URL of a swe-pruner service, `embedded` for the pruner inside, or empty for off.",
			Take:    takePrunerURL},
		{Name: "PRUNER_TIMEOUT_MS", For: both, Default: "30000", Allowed: "an integer from 100 to 300000",
			Meaning: "Longest time for one pruner call, including the wait for its turn. After that the raw output is returned.",
			Take:    milliseconds(300_000, func(s *Settings) *time.Duration { return &s.PrunerTimeout })},
		{Name: "PRUNER_MAX_INFLIGHT", For: both, Default: "2", Allowed: "an integer from 1 to 256",
			Meaning: "Pruner calls that run at once; the reference service handles one at a time.",
			Take:    integer(1, 256, func(s *Settings) *int { return &s.PrunerMaxInflight })},
		{Name: "PRUNER_THRESHOLD", For: both, Allowed: "a number from 0 to 1",
			Meaning: "Sent to the service as `threshold`; unset sends none.", Take: takeThreshold},
	}
}

func toolRows() []Row {
	return []Row{
		{Name: "MCP_PRUNER_CWD", For: both, Default: ".", Allowed: "an existing directory",
			Meaning: "Root: relative paths start here, no path may leave it, commands run in it.", Take: takeRoot},
		{Name: "MCP_PRUNER_TOOLSETS", For: both, Default: "core", Allowed: "names out of core, text, gc separated by commas",
			Meaning: "`core` is `read`, `bash` and `grep`; `text` is `prune_text` and `recover_text`; `gc` is the six tools of docs/GC.md.",
			Take:    names(func(s *Settings) *[]string { return &s.Toolsets }, "core", "text", "gc")},
		{Name: "MCP_PRUNER_TOOLS", For: both, Allowed: "names out of " + strings.Join(tools.Names(), ", ") + " separated by commas",
			Meaning: "Narrows `core`, e.g. `read,grep` for a server without a shell.",
			Take:    unlessEmpty(names(func(s *Settings) *[]string { return &s.Tools }, tools.Names()...))},
		{Name: "MCP_PRUNER_RESULT", For: both, Default: "auto", Allowed: "auto, full or text",
			Meaning: "`full`: `content` and `structuredContent`. `text`: `content` only. `auto`: `text` for clients that would show their model only the JSON (" + titles(onlyStructured) + "), `full` for all others.",
			Take:    word(func(s *Settings) *string { return &s.Result }, "auto", "full", "text")},
		{Name: "MCP_PRUNER_NONZERO_EXIT", For: both, Default: "auto", Allowed: "auto, error or output",
			Meaning: "`output` makes a failing command a normal result, so that a failing test run can be pruned; `error` makes it a tool error with the whole output. `auto`: `output` with the embedded pruner, else `error`.",
			Take:    word(func(s *Settings) *string { return &s.NonzeroExit }, "auto", "error", "output")},
		{Name: "MCP_PRUNER_INVALID_PARAMS", For: both, Default: "auto", Allowed: "auto, protocol or tool",
			Meaning: "`protocol`: bad arguments are a JSON-RPC error -32602. `tool`: a tool error that names the argument and the right one. `auto`: `tool` for clients that hide the error's data from their model (" + titles(hidesErrorData) + "), else `protocol`.",
			Take:    word(func(s *Settings) *string { return &s.InvalidParams }, "auto", "protocol", "tool")},
		{Name: "MCP_PRUNER_BASH_TIMEOUT_MS", For: both, Default: "30000", Allowed: "an integer from 100 to 3600000",
			Meaning: "How long a command may run if its call has no `timeout_ms`.",
			Take:    milliseconds(3_600_000, func(s *Settings) *time.Duration { return &s.BashTimeout })},
		{Name: "MCP_PRUNER_BASH_MAX_TIMEOUT_MS", For: both, Default: "300000", Allowed: "an integer from 100 to 3600000",
			Meaning: "The largest `timeout_ms` that a call may have.",
			Take:    milliseconds(3_600_000, func(s *Settings) *time.Duration { return &s.BashMaxTimeout })},
		{Name: "MCP_PRUNER_REPEAT_RAW", For: both, Default: "true", Allowed: "true or false",
			Meaning: "The same call again gets whole what was pruned, unless something could have changed it in between; `false`: it is pruned again.",
			Take:    boolean(func(s *Settings) *bool { return &s.RepeatRaw })},
		{Name: "MCP_PRUNER_PASS_ENV", For: both, Allowed: "names separated by commas",
			Meaning: "Variables that `bash` passes on although they are withheld by default: the server's settings (`PRUNER_*`, `MCP_PRUNER_*`, `JEEVES_*`, `DEEPINFRA_*`, `OTEL_EXPORTER_OTLP_HEADERS`), what opens its database (`PGPASSWORD`, `PGPASSFILE` and others, if `MCP_PRUNER_STORE` names one) and the client's secrets (" + clientSecrets() + ").",
			Take:    items(func(s *Settings) *[]string { return &s.PassEnv })},
		{Name: "MCP_PRUNER_ALWAYS_LOAD", For: both, Default: "true", Allowed: "true or false",
			Meaning: "Asks Claude to show the tools to its model up front instead of by name only.",
			Take:    boolean(func(s *Settings) *bool { return &s.AlwaysLoad })},
		{Name: OtherTools, For: both, Allowed: "names separated by commas",
			Meaning: "Servers and tools other than read, bash and grep whose results `hook`, `proxy` and `replay` prune too, e.g. `github,mcp__docs__page`; `all` is every one. Unset leaves those results whole.",
			Take:    items(func(s *Settings) *[]string { return &s.OtherTools })},
		{Name: "MCP_PRUNER_MAX_CALLS", For: Stdio, Default: "64", Allowed: "an integer from 16 to 4096",
			Meaning: "Tool calls that run at once; further ones wait.",
			Take:    integer(16, 4096, func(s *Settings) *int { return &s.MaxCalls })},
	}
}

func recoveryRows() []Row {
	return []Row{
		recoveryTTL(both, "86400"), // an agent may come back hours later
		recoveryTTL(Pruner, "600"), // as specified
		{Name: Store, For: Servers, Allowed: StoreAllowed,
			Meaning: "Where state is kept that outlives a process: originals, the ledger with the proxy's decisions, API keys. A database is shared by all replicas: see [TEAMS.md](TEAMS.md). A specific setting, such as MCP_PRUNER_GC_STORE, goes before a file; together with a database it is an error. Unset keeps originals in memory and the rest in the user's state directory.",
			Take:    storeName},
		{Name: "MCP_PRUNER_RECOVERY_MAX_BYTES", For: Servers, Default: "67108864", Allowed: "an integer from 1048576 to 4294967296",
			Meaning: "Bytes of originals kept; the oldest are removed first.",
			Take:    integer(1<<20, 1<<32, func(s *Settings) *int64 { return &s.RecoveryMaxBytes })},
		{Name: "MCP_PRUNER_RECOVERY_STORE", For: Servers, Allowed: "a file path",
			Meaning: "A file that keeps originals across restarts; unset keeps them in memory.",
			Take:    text(func(s *Settings) *string { return &s.RecoveryStore })},
		{Name: "MCP_PRUNER_GC_STORE", For: both, Allowed: "a file path",
			Meaning: "The ledger of toolset `gc`, `mcp-pruner gc` and `proxy`; unset is `ledger.db` in the user's state directory. Set, the server records its answers there without the toolset, too.",
			Take:    text(func(s *Settings) *string { return &s.GCStore })},
		{Name: "MCP_PRUNER_GC_KEEP_DAYS", For: both, Default: "90", Allowed: "an integer from 0 to 36500",
			Meaning: "Days after which a session that is not used leaves the ledger, with its originals; 0 keeps all. Pinned segments stay.",
			Take:    duration(24*time.Hour, 0, 36_500, func(s *Settings) *time.Duration { return &s.GCKeep })},
		{Name: "MCP_PRUNER_GC_MAX_BYTES", For: both, Default: "1073741824", Allowed: "an integer from 0 to 1099511627776",
			Meaning: "Bytes of the ledger above which the sessions not used for longest leave it, except those of the last 24 hours; 0 sets no limit.",
			Take:    integer(0, 1<<40, func(s *Settings) *int64 { return &s.GCMaxBytes })},
	}
}

func recoveryTTL(program Program, byDefault string) Row {
	return Row{Name: "MCP_PRUNER_PRUNE_ID_TTL_S", For: program, Default: byDefault, Allowed: "an integer from 1 to 86400",
		Meaning: "Seconds for which the original of pruned output can be read again.",
		Take:    seconds(1, 86400, func(s *Settings) *time.Duration { return &s.RecoveryTTL })}
}

func traceRows() []Row {
	return []Row{
		{Name: "MCP_PRUNER_TRACE", For: Servers | Runner, Allowed: "a file path",
			Meaning: "A file that gets one JSON line per finished request. See [AUDIT.md](AUDIT.md).",
			Take:    text(func(s *Settings) *string { return &s.Trace })},
		{Name: "MCP_PRUNER_TRACE_DETAIL", For: Servers, Default: "metadata", Allowed: "metadata or full",
			Meaning: "`full` also records question, path and command.",
			Take: func(s *Settings, v string) bool {
				s.TraceFull = v == "full"
				return v == "metadata" || v == "full"
			}},
		{Name: "MCP_PRUNER_TRACE_MAX_BYTES", For: Servers | Runner, Default: "67108864", Allowed: "an integer from 0 to 1099511627776",
			Meaning: "Starts a new trace file above this size; 0 never does.",
			Take:    integer(0, 1<<40, func(s *Settings) *int64 { return &s.TraceMaxBytes })},
		{Name: "MCP_PRUNER_TRACE_MAX_AGE_S", For: Servers | Runner, Default: "604800", Allowed: "an integer from 0 to 31536000",
			Meaning: "Starts a new trace file when the first record is older, in seconds; 0 never does.",
			Take:    seconds(0, 365*86400, func(s *Settings) *time.Duration { return &s.TraceMaxAge })},
		{Name: "MCP_PRUNER_TRACE_KEEP", For: Servers | Runner, Default: "16", Allowed: "an integer from 0 to 10000",
			Meaning: "Files of a trace that are kept after a new one was started; 0 keeps all.",
			Take:    integer(0, 10_000, func(s *Settings) *int { return &s.TraceKeep })},
		{Name: "MCP_PRUNER_TRACE_HEADS", For: Servers | Runner, Allowed: "unix:SOCKET, exec:PROGRAM ARGUMENTS, or journald",
			Meaning: "Where the heads of the trace go beside the event log: a place that the audited agent cannot write. See [AUDIT.md](AUDIT.md).",
			Take: func(s *Settings, v string) bool {
				s.TraceHeads = v
				kind, rest, _ := strings.Cut(v, ":")
				return v == "" || v == "journald" || (kind == "unix" || kind == "exec") && strings.TrimSpace(rest) != ""
			}},
		{Name: "MCP_PRUNER_RUN_ID", For: Servers, Allowed: "any text",
			Meaning: "The run that the server belongs to; `mcp-pruner run` sets it. It is in every line of the event log and in the trace.",
			Take:    text(func(s *Settings) *string { return &s.RunID })},
		{Name: "MCP_PRUNER_LOG_LEVEL", For: Servers, Default: "debug", Allowed: "debug, info, warn or error",
			Meaning: "Lowest level of the events on standard error.",
			Take:    word(func(s *Settings) *string { return &s.LogLevel }, "debug", "info", "warn", "error")},
		{Name: "MCP_PRUNER_METRICS", For: Servers, After: true, Allowed: "a port from 0 to 65535, or HOST:PORT; beyond loopback it needs MCP_PRUNER_METRICS_TOKEN_FILE",
			Meaning: "Serves `GET /metrics` for Prometheus there; a port alone is on 127.0.0.1. Also of `gateway` and `proxy`. See [TEAMS.md](TEAMS.md#metrics).",
			Take:    takeMetrics},
		{Name: "MCP_PRUNER_METRICS_TOKEN_FILE", For: Servers, Allowed: "a file path",
			Meaning: "A file whose first line is the bearer token that `GET /metrics` asks for. Only its owner may read it.",
			Take:    text(func(s *Settings) *string { return &s.MetricsToken })},
	}
}

func httpRows() []Row {
	return []Row{
		{Name: "JEEVES_MCP_PRUNER_HOST", For: HTTP, Flag: "host", Default: "127.0.0.1", Code: "invalid_host", After: true,
			Allowed: "a loopback address, 127.0.0.1 or ::1; " + beyond, Meaning: "The address to listen on.", Take: takeHost},
		{Name: "JEEVES_MCP_PRUNER_PORT", For: HTTP, Flag: "port", Default: "0", Code: "invalid_port",
			Allowed: "an integer from 0 to 65535", Meaning: "0 takes any free port; the event `mcp_pruner.ready` names it.",
			Take: integer(0, 65535, func(s *Settings) *int { return &s.Port })},
		{Name: "MCP_PRUNER_TOKEN_FILE", For: doors, Flag: "token-file", Allowed: "a file path",
			Meaning: "A file that only its owner may read, whose first line every request must carry as a bearer token (all but `GET /healthz` and `/readyz`).",
			Take:    text(func(s *Settings) *string { return &s.TokenFile })},
		{Name: "JEEVES_MCP_PRUNER_ROOT_DIR", For: HTTP, Flag: "root", Shared: "MCP_PRUNER_CWD", Default: ".", Code: "invalid_root_dir",
			Allowed: "an existing directory", Meaning: "Root, as `MCP_PRUNER_CWD`.", Take: takeRoot},
		{Name: "JEEVES_PRUNER_ENDPOINT", For: HTTP, Shared: "PRUNER_URL", Code: "invalid_pruner_endpoint",
			Allowed: `an http or https URL, or "embedded"`,
			Meaning: "Where output is pruned, as `PRUNER_URL`. When neither is set, pruning is off.", Take: takePrunerURL},
		{Name: "JEEVES_PRUNER_TIMEOUT_MS", For: HTTP, Shared: "PRUNER_TIMEOUT_MS", Default: "2000", Code: "invalid_timeout_ms",
			Allowed: "an integer from 100 to 30000", Meaning: "Longest time for one pruner call.",
			Take: milliseconds(30_000, func(s *Settings) *time.Duration { return &s.PrunerTimeout })},
		{Name: "JEEVES_MCP_PRUNER_MAX_PRUNE_INPUT_BYTES", For: HTTP, Default: "262144", Code: "invalid_max_prune_input_bytes",
			Allowed: "an integer from 1024 to 2097152", Meaning: "Larger output is returned whole, with the reason `too_large`.",
			Take: integer(1024, 2<<20, func(s *Settings) *int { return &s.MaxPruneBytes })},
		{Name: "MCP_PRUNER_MAX_CALLS", For: HTTP, Default: "256", Code: "invalid_max_calls", Allowed: "an integer from 16 to 4096",
			Meaning: "Tool calls of all clients that run at once; further ones wait.",
			Take:    integer(16, 4096, func(s *Settings) *int { return &s.MaxCalls })},
	}
}

// serviceRows are the settings of the line pruner's service. LoadPruner reads those of the cloud, whose errors are
// not fatal.
func serviceRows() []Row {
	return []Row{
		{Name: "MCP_PRUNER_HOST", For: Pruner, Flag: "host", Default: "127.0.0.1", After: true, Allowed: "a loopback address (127.0.0.1, ::1 or localhost); " + beyond,
			Meaning: "The address to listen on.", Take: takeName},
		{Name: "MCP_PRUNER_PORT", For: Pruner, Flag: "port", Default: "8006", Allowed: "an integer from 0 to 65535",
			Meaning: "0 takes any free port; the event `mcp_pruner.ready` names it.",
			Take:    integer(0, 65535, func(s *Settings) *int { return &s.Port })},
		{Name: "MCP_PRUNER_MAX_INPUT_CHARS", For: Pruner, Default: "2000000", Allowed: "an integer from 1 to 1073741824",
			Meaning: "Longest text that is pruned, in code points; a longer one comes back whole.",
			Take:    integer(1, 1<<30, func(s *Settings) *int { return &s.MaxInputChars })},
		{Name: "MCP_PRUNER_MAX_CALLS", For: Pruner, Default: "256", Code: "invalid_max_calls", Allowed: "an integer from 16 to 4096",
			Meaning: "Calls of all clients that run at once; further ones wait.",
			Take:    integer(16, 4096, func(s *Settings) *int { return &s.MaxCalls })},
		{Name: "MCP_PRUNER_CONFIG", For: Pruner, Allowed: "a readable TOML file", Meaning: "Its table `mcp_pruner` has settings of the cloud that the environment does not set."},
		{Name: "KIMI_PRUNING_BACKEND", For: Pruner, Default: "heuristic", Allowed: "heuristic, deepinfra or cloud", Meaning: "What chooses the lines: this program, or DeepInfra's reranker."},
		{Name: "DEEPINFRA_API_KEY", For: Pruner, Allowed: "a key", Meaning: "The key for DeepInfra; it is read from the environment only."},
		{Name: "DEEPINFRA_ENDPOINT_URL", For: Pruner, Allowed: "an absolute http or https URL", Meaning: "Address of the reranker; unset, DeepInfra's."},
		{Name: "DEEPINFRA_TIMEOUT_MS", For: Pruner, Allowed: "an integer from 1 to 3600000", Meaning: "Longest time for one request to the reranker."},
		{Name: "DEEPINFRA_MAX_DOCS", For: Pruner, Allowed: "an integer", Meaning: "Largest number of documents in one request."},
		{Name: "MCP_PRUNER_CACHE_TTL_S", For: Pruner, Allowed: "an integer from 0 to 2592000", Meaning: "Seconds for which the reranker's scores are kept."},
		{Name: "MCP_PRUNER_CACHE_MAX_ITEMS", For: Pruner, Allowed: "an integer from 0 to 1048576", Meaning: "Answers of the reranker that are kept; `MCP_PRUNER_CACHE_MAX_ENTRIES` is an alias."},
		{Name: "MCP_PRUNER_CACHE_MAX_ENTRIES", For: Pruner, Allowed: "an integer from 0 to 1048576", Meaning: "As `MCP_PRUNER_CACHE_MAX_ITEMS`."},
	}
}

// runnerRows are read by package runnerfsm.
func runnerRows() []Row {
	const onOff = "1, true, yes or on, 0, false, no or off"
	return []Row{
		{Name: "JEEVES_PRUNER_ENABLED", For: Runner, Allowed: onOff, Meaning: "Whether `run` injects the server over standard streams."},
		{Name: "JEEVES_MCP_PRUNER_ENABLED", For: Runner, Allowed: onOff, Meaning: "Whether `run --transport http` starts a server; unset, `JEEVES_PRUNER_ENABLED` decides."},
		{Name: "JEEVES_PRUNER_URL", For: Runner, Default: "http://localhost:8000/prune", Allowed: "as PRUNER_URL",
			Meaning: "`PRUNER_URL` of the server that is injected."},
		{Name: "JEEVES_MCP_PRUNER_PATH", For: Runner, Allowed: "an executable, or a .js, .mjs or .cjs file",
			Meaning: "The server; unset, it is looked for beside this program and on `PATH`."},
	}
}
