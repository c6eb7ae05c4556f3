-- The traces of replicas: each row is a batch of lines of one process, with the head of its chain after them.
CREATE TABLE mcp_pruner.traces (
	id bigserial PRIMARY KEY, writer text NOT NULL, seq bigint NOT NULL, final boolean NOT NULL, link text NOT NULL, key text NOT NULL,
	lines bytea NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), UNIQUE (writer, seq, final));
CREATE INDEX traces_created ON mcp_pruner.traces (created_at);
