-- What the planner said to a decision, and the number of calls after which it has paid.
ALTER TABLE mcp_pruner.decisions ADD COLUMN why text NOT NULL DEFAULT '', ADD COLUMN pays bigint NOT NULL DEFAULT 0;
