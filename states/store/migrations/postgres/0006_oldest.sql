-- Oldest version that may use this schema: 6
-- The oldest version whose programs may use the schema. Earlier ones wanted their own version and no other.
ALTER TABLE mcp_pruner.schema ADD COLUMN IF NOT EXISTS oldest int;
