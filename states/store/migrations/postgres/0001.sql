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

-- What agents were given, as it was. Equal texts of one subject are stored once, and never shared with another subject.
CREATE TABLE mcp_pruner.texts (
	subject text NOT NULL, hash bytea NOT NULL, bytes bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY (subject, hash));
-- The fastest compression that the server has, else none: texts are written and read while an agent waits.
DO $$ BEGIN
	ALTER TABLE mcp_pruner.texts ALTER COLUMN body SET COMPRESSION lz4;
EXCEPTION WHEN OTHERS THEN
	ALTER TABLE mcp_pruner.texts ALTER COLUMN body SET STORAGE EXTERNAL;
END $$;

-- Ids by which a text is recovered. Those without an end were shown by a proxy and live as long as the ledger has the text.
CREATE TABLE mcp_pruner.originals (
	subject text NOT NULL, id text NOT NULL, hash bytea NOT NULL, seq bigserial NOT NULL, expires_at timestamptz,
	project text NOT NULL DEFAULT '', first_line int NOT NULL DEFAULT 1, PRIMARY KEY (subject, id),
	FOREIGN KEY (subject, hash) REFERENCES mcp_pruner.texts);
CREATE INDEX originals_hash ON mcp_pruner.originals (subject, hash);
CREATE INDEX originals_seq ON mcp_pruner.originals (subject, seq) WHERE expires_at IS NOT NULL;
CREATE INDEX originals_expires ON mcp_pruner.originals (expires_at) WHERE expires_at IS NOT NULL;

-- The ledger: what agents were shown. seq numbers segments in the order of arrival.
CREATE TABLE mcp_pruner.projects (subject text NOT NULL, project text NOT NULL, collections int NOT NULL, PRIMARY KEY (subject, project));
CREATE TABLE mcp_pruner.segments (
	seq bigserial PRIMARY KEY, subject text NOT NULL, id text NOT NULL, key bytea, project text NOT NULL, task text NOT NULL,
	session text NOT NULL, type text NOT NULL, tool text NOT NULL, path text NOT NULL, first_line int NOT NULL, last_line int NOT NULL,
	tokens bigint NOT NULL, bytes bigint NOT NULL, created_at timestamptz NOT NULL, touched_at timestamptz NOT NULL,
	pinned boolean NOT NULL, tier text NOT NULL, born int NOT NULL, refs int NOT NULL, tags text[] NOT NULL, topic text NOT NULL,
	hash bytea NOT NULL, superseded text NOT NULL DEFAULT '',
	UNIQUE (subject, project, id), UNIQUE (subject, key), FOREIGN KEY (subject, hash) REFERENCES mcp_pruner.texts);
CREATE INDEX segments_created ON mcp_pruner.segments (subject, project, created_at);
CREATE INDEX segments_id ON mcp_pruner.segments (subject, id);
CREATE INDEX segments_hash ON mcp_pruner.segments (subject, hash);
CREATE INDEX segments_path ON mcp_pruner.segments (subject, project, path) WHERE path != '';
CREATE INDEX segments_session ON mcp_pruner.segments (subject, session, touched_at) WHERE session != '';
CREATE INDEX segments_pinned ON mcp_pruner.segments (seq) WHERE pinned;
CREATE INDEX segments_key ON mcp_pruner.segments (key) WHERE key IS NOT NULL;
-- The words of each segment, for the search.
CREATE TABLE mcp_pruner.words (seq bigint PRIMARY KEY REFERENCES mcp_pruner.segments ON DELETE CASCADE, words text[] NOT NULL);
CREATE INDEX words_words ON mcp_pruner.words USING gin (words);

-- What the proxy decided, by hashes in which the subject is mixed. A row never changes, and the first one for a place holds.
CREATE TABLE mcp_pruner.clearings (
	seq bigserial PRIMARY KEY, subject text NOT NULL, item bytea NOT NULL, since bytea NOT NULL, segment text NOT NULL,
	stub bytea NOT NULL, tokens bigint NOT NULL, free boolean NOT NULL, created_at timestamptz NOT NULL, UNIQUE (item, since));
CREATE INDEX clearings_since ON mcp_pruner.clearings (since);
CREATE TABLE mcp_pruner.decisions (since bytea PRIMARY KEY, parent bytea NOT NULL);
CREATE TABLE mcp_pruner.places (mark bytea PRIMARY KEY, head bytea NOT NULL, created_at timestamptz NOT NULL);
CREATE INDEX places_created ON mcp_pruner.places (created_at);

CREATE TABLE mcp_pruner.usage (
	subject text NOT NULL, session text NOT NULL, api text NOT NULL, model text NOT NULL, calls bigint NOT NULL, input bigint NOT NULL,
	read bigint NOT NULL, written bigint NOT NULL, output bigint NOT NULL, before double precision NOT NULL,
	after double precision NOT NULL, cleared bigint NOT NULL, updated_at timestamptz NOT NULL, PRIMARY KEY (subject, session));
CREATE TABLE mcp_pruner.marks (
	seq bigserial PRIMARY KEY, subject text NOT NULL, session text NOT NULL, project text NOT NULL, kind text NOT NULL,
	detail text NOT NULL, created_at timestamptz NOT NULL);

-- What a replica tells the others, such as a cancel of a call that one of them runs. The one that could act on it says so.
CREATE TABLE mcp_pruner.announcements (
	seq bigserial PRIMARY KEY, topic text NOT NULL, payload bytea NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), heard_at timestamptz);
