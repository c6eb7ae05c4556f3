CREATE SCHEMA IF NOT EXISTS mcp_pruner;

-- One row for each migration.
CREATE TABLE mcp_pruner.schema (version int PRIMARY KEY, migrated_at timestamptz NOT NULL DEFAULT now());

-- Keys of the doors. hash is SHA-256 of the key, which is nowhere else.
CREATE TABLE mcp_pruner.api_keys (
	id text PRIMARY KEY, hash bytea UNIQUE NOT NULL, subject text NOT NULL, scopes text[] NOT NULL DEFAULT '{}',
	created_at timestamptz NOT NULL, expires_at timestamptz, revoked_at timestamptz, note text);
CREATE INDEX api_keys_subject ON mcp_pruner.api_keys (subject);

-- Secrets that the replicas share, such as the key that authenticates session ids.
CREATE TABLE mcp_pruner.shared_keys (name text PRIMARY KEY, value bytea NOT NULL, created_at timestamptz NOT NULL DEFAULT now());
