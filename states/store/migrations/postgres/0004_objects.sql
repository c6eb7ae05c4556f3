-- Large texts may lie as objects in a bucket. body then has their beginning, which searches look at.
ALTER TABLE mcp_pruner.texts ADD COLUMN object text;

-- Objects that have to be removed from the bucket. One is listed before it is uploaded, and no longer once a text has it.
CREATE TABLE mcp_pruner.dropped (object text PRIMARY KEY, due timestamptz NOT NULL);
CREATE INDEX dropped_due ON mcp_pruner.dropped (due);
