CREATE TABLE IF NOT EXISTS texts (hash BLOB PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS projects (project TEXT PRIMARY KEY, collections INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS segments (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, key BLOB UNIQUE,
	project TEXT NOT NULL, task TEXT NOT NULL, session TEXT NOT NULL, type TEXT NOT NULL, tool TEXT NOT NULL,
	path TEXT NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL,
	tokens INTEGER NOT NULL, bytes INTEGER NOT NULL, created INTEGER NOT NULL, touched INTEGER NOT NULL,
	pinned INTEGER NOT NULL, tier TEXT NOT NULL, born INTEGER NOT NULL, refs INTEGER NOT NULL,
	tags TEXT NOT NULL, topic TEXT NOT NULL, hash BLOB NOT NULL, superseded TEXT NOT NULL DEFAULT '',
	UNIQUE (project, id));
CREATE INDEX IF NOT EXISTS segments_created ON segments (project, created);
CREATE INDEX IF NOT EXISTS segments_id ON segments (id);
CREATE INDEX IF NOT EXISTS segments_hash ON segments (hash);
CREATE INDEX IF NOT EXISTS segments_path ON segments (project, path) WHERE path != '';
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
	text, content='', contentless_delete=1, detail=none, tokenize="unicode61 remove_diacritics 0 tokenchars '_'");
CREATE TABLE IF NOT EXISTS clearings (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, item BLOB NOT NULL, since BLOB NOT NULL, segment TEXT NOT NULL,
	stub TEXT NOT NULL, tokens INTEGER NOT NULL, free INTEGER NOT NULL, created INTEGER NOT NULL, UNIQUE (item, since));
CREATE INDEX IF NOT EXISTS clearings_since ON clearings (since);
CREATE TABLE IF NOT EXISTS decisions (
	since BLOB PRIMARY KEY, parent BLOB NOT NULL, why TEXT NOT NULL DEFAULT '', pays INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS places (mark BLOB PRIMARY KEY, head BLOB NOT NULL, created INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS places_created ON places (created);
CREATE INDEX IF NOT EXISTS segments_session ON segments (session) WHERE session != '';
CREATE TABLE IF NOT EXISTS usage (
	session TEXT PRIMARY KEY, api TEXT NOT NULL, model TEXT NOT NULL, calls INTEGER NOT NULL, input INTEGER NOT NULL,
	read INTEGER NOT NULL, written INTEGER NOT NULL, output INTEGER NOT NULL, before REAL NOT NULL, after REAL NOT NULL,
	cleared INTEGER NOT NULL, updated INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS marks (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, project TEXT NOT NULL, kind TEXT NOT NULL,
	detail TEXT NOT NULL, created INTEGER NOT NULL);
