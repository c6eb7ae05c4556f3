CREATE SCHEMA mcp_pruner;
CREATE TABLE mcp_pruner.announcements (
    seq bigint NOT NULL,
    topic text NOT NULL,
    payload bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    heard_at timestamp with time zone
);
CREATE SEQUENCE mcp_pruner.announcements_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE mcp_pruner.announcements_seq_seq OWNED BY mcp_pruner.announcements.seq;
CREATE TABLE mcp_pruner.api_keys (
    id text NOT NULL,
    hash bytea NOT NULL,
    subject text NOT NULL,
    scopes text[] DEFAULT '{}'::text[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    note text
);
CREATE TABLE mcp_pruner.clearings (
    seq bigint NOT NULL,
    subject text NOT NULL,
    item bytea NOT NULL,
    since bytea NOT NULL,
    segment text NOT NULL,
    stub bytea NOT NULL,
    tokens bigint NOT NULL,
    free boolean NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE mcp_pruner.clearings_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE mcp_pruner.clearings_seq_seq OWNED BY mcp_pruner.clearings.seq;
CREATE TABLE mcp_pruner.decisions (
    since bytea NOT NULL,
    parent bytea NOT NULL,
    why text DEFAULT ''::text NOT NULL,
    pays bigint DEFAULT 0 NOT NULL
);
CREATE TABLE mcp_pruner.marks (
    seq bigint NOT NULL,
    subject text NOT NULL,
    session text NOT NULL,
    project text NOT NULL,
    kind text NOT NULL,
    detail text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE mcp_pruner.marks_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE mcp_pruner.marks_seq_seq OWNED BY mcp_pruner.marks.seq;
CREATE TABLE mcp_pruner.originals (
    subject text NOT NULL,
    id text NOT NULL,
    hash bytea NOT NULL,
    seq bigint NOT NULL,
    expires_at timestamp with time zone,
    project text DEFAULT ''::text NOT NULL,
    first_line integer DEFAULT 1 NOT NULL
);
CREATE SEQUENCE mcp_pruner.originals_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE mcp_pruner.originals_seq_seq OWNED BY mcp_pruner.originals.seq;
CREATE TABLE mcp_pruner.places (
    mark bytea NOT NULL,
    head bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE mcp_pruner.projects (
    subject text NOT NULL,
    project text NOT NULL,
    collections integer NOT NULL
);
CREATE TABLE mcp_pruner.schema (
    version integer NOT NULL,
    migrated_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE mcp_pruner.segments (
    seq bigint NOT NULL,
    subject text NOT NULL,
    id text NOT NULL,
    key bytea,
    project text NOT NULL,
    task text NOT NULL,
    session text NOT NULL,
    type text NOT NULL,
    tool text NOT NULL,
    path text NOT NULL,
    first_line integer NOT NULL,
    last_line integer NOT NULL,
    tokens bigint NOT NULL,
    bytes bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    touched_at timestamp with time zone NOT NULL,
    pinned boolean NOT NULL,
    tier text NOT NULL,
    born integer NOT NULL,
    refs integer NOT NULL,
    tags text[] NOT NULL,
    topic text NOT NULL,
    hash bytea NOT NULL,
    superseded text DEFAULT ''::text NOT NULL
);
CREATE SEQUENCE mcp_pruner.segments_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE mcp_pruner.segments_seq_seq OWNED BY mcp_pruner.segments.seq;
CREATE TABLE mcp_pruner.shared_keys (
    name text NOT NULL,
    value bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE mcp_pruner.texts (
    subject text NOT NULL,
    hash bytea NOT NULL,
    bytes bigint NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY mcp_pruner.texts ALTER COLUMN body SET COMPRESSION lz4;
CREATE TABLE mcp_pruner.traces (
    id bigint NOT NULL,
    writer text NOT NULL,
    seq bigint NOT NULL,
    final boolean NOT NULL,
    link text NOT NULL,
    key text NOT NULL,
    lines bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE SEQUENCE mcp_pruner.traces_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE mcp_pruner.traces_id_seq OWNED BY mcp_pruner.traces.id;
CREATE TABLE mcp_pruner.usage (
    subject text NOT NULL,
    session text NOT NULL,
    api text NOT NULL,
    model text NOT NULL,
    calls bigint NOT NULL,
    input bigint NOT NULL,
    read bigint NOT NULL,
    written bigint NOT NULL,
    output bigint NOT NULL,
    before double precision NOT NULL,
    after double precision NOT NULL,
    cleared bigint NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE TABLE mcp_pruner.words (
    seq bigint NOT NULL,
    words text[] NOT NULL
);
ALTER TABLE ONLY mcp_pruner.announcements ALTER COLUMN seq SET DEFAULT nextval('mcp_pruner.announcements_seq_seq'::regclass);
ALTER TABLE ONLY mcp_pruner.clearings ALTER COLUMN seq SET DEFAULT nextval('mcp_pruner.clearings_seq_seq'::regclass);
ALTER TABLE ONLY mcp_pruner.marks ALTER COLUMN seq SET DEFAULT nextval('mcp_pruner.marks_seq_seq'::regclass);
ALTER TABLE ONLY mcp_pruner.originals ALTER COLUMN seq SET DEFAULT nextval('mcp_pruner.originals_seq_seq'::regclass);
ALTER TABLE ONLY mcp_pruner.segments ALTER COLUMN seq SET DEFAULT nextval('mcp_pruner.segments_seq_seq'::regclass);
ALTER TABLE ONLY mcp_pruner.traces ALTER COLUMN id SET DEFAULT nextval('mcp_pruner.traces_id_seq'::regclass);
INSERT INTO mcp_pruner.api_keys VALUES ('k1', '\xd10791005a676f5b9f18a119e2bab7f03311d0686e0f2a55205fa0ee94b6f4a5', 'ann', '{serve,proxy}', '2026-11-01 01:00:00.000123+00', NULL, NULL, 'laptop');
INSERT INTO mcp_pruner.api_keys VALUES ('k2', '\x2e3d2a2ccb36ce799807b6a2bf1a4c6796faf077044ea6ad7bf2e65f62dca5fe', 'bob', '{}', '2026-11-01 02:00:00.000123+00', '2026-11-01 20:00:00.000123+00', '2026-11-01 03:00:00.000123+00', '');
INSERT INTO mcp_pruner.clearings VALUES (1, '', '\x6161616161616161616161616161616161616161616161616161616161616161', '\x0100000000000000000000000000000000000000000000000000000000000000', 's1', '\x5b636c65617265643a2073315d', 9, false, '2026-11-01 03:00:00.000123+00');
INSERT INTO mcp_pruner.clearings VALUES (2, '', '\x6464646464646464646464646464646464646464646464646464646464646464', '\x0200000000000000000000000000000000000000000000000000000000000000', 's4', '\x5b636c65617265643a2073345d', 11, true, '2026-11-01 04:00:00.000123+00');
INSERT INTO mcp_pruner.decisions VALUES ('\x0100000000000000000000000000000000000000000000000000000000000000', '\x0000000000000000000000000000000000000000000000000000000000000000', 'it pays', 4);
INSERT INTO mcp_pruner.decisions VALUES ('\x0200000000000000000000000000000000000000000000000000000000000000', '\x0100000000000000000000000000000000000000000000000000000000000000', 'cold', 0);
INSERT INTO mcp_pruner.marks VALUES (1, '', 's2', 'shop', 'compacted', 'auto', '2026-11-01 05:00:00.000123+00');
INSERT INTO mcp_pruner.originals VALUES ('', 'prn_5f32edec', '\xc9fbd865f5b1419c9e65d4381bfee26fb252a303d4cdd689aed446bf252ca847', 1, NULL, 'shop', 3);
INSERT INTO mcp_pruner.originals VALUES ('', 'prn_1a0c52b2bd7810938efadf02d1e735fd', '\x2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806', 2, '2026-11-02 01:00:00.000123+00', '', 1);
INSERT INTO mcp_pruner.originals VALUES ('ann', 'prn_128d54c8a40969d40fa66a00750a2870', '\x27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a', 3, '2026-11-02 01:00:00.000123+00', '', 1);
INSERT INTO mcp_pruner.originals VALUES ('', 'prn_e5d6e8c5df018c65b21328e97740be91', '\x2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806', 4, '2026-11-02 01:00:00.000123+00', '', 1);
INSERT INTO mcp_pruner.places VALUES ('\x0b00000000000000000000000000000000000000000000000000000000000000', '\x0100000000000000000000000000000000000000000000000000000000000000', '2026-11-01 03:00:00.000123+00');
INSERT INTO mcp_pruner.places VALUES ('\x0c00000000000000000000000000000000000000000000000000000000000000', '\x0100000000000000000000000000000000000000000000000000000000000000', '2026-11-01 03:00:00.000123+00');
INSERT INTO mcp_pruner.places VALUES ('\x0d00000000000000000000000000000000000000000000000000000000000000', '\x0200000000000000000000000000000000000000000000000000000000000000', '2026-11-01 04:00:00.000123+00');
INSERT INTO mcp_pruner.places VALUES ('\x0e00000000000000000000000000000000000000000000000000000000000000', '\x0200000000000000000000000000000000000000000000000000000000000000', '2026-11-01 04:00:00.000123+00');
INSERT INTO mcp_pruner.schema VALUES (1, '2026-11-28 21:43:43.517686+00');
INSERT INTO mcp_pruner.schema VALUES (2, '2026-11-28 21:43:43.813874+00');
INSERT INTO mcp_pruner.schema VALUES (3, '2026-11-28 21:43:43.84077+00');
INSERT INTO mcp_pruner.schema VALUES (4, '2026-11-28 21:43:43.845831+00');
INSERT INTO mcp_pruner.schema VALUES (5, '2026-11-28 21:43:43.862379+00');
INSERT INTO mcp_pruner.segments VALUES (2, '', 's2', '\x6262626262626262626262626262626262626262626262626262626262626262', 'shop', '', 's1', 'log', 'Bash', '', 0, 0, 12, 34, '2026-11-01 02:00:00.000123+00', '2026-11-01 02:00:00.000123+00', true, 'working', 0, 0, '{}', '', '\x1a515b4b95295574c1f87f634275d663b0eda76c4f532b65f348914aa4e88d43', '');
INSERT INTO mcp_pruner.segments VALUES (1, '', 's1', '\x6161616161616161616161616161616161616161616161616161616161616161', 'shop', 't1', 's1', 'code', 'Read', '/shop/main.go', 0, 0, 9, 28, '2026-11-01 01:00:00.000123+00', '2026-11-01 01:00:00.000123+00', false, 'stashed', 0, 0, '{go,main}', 'entry', '\x15dfc4f51b4ed90211b566886f456d23d6984e1bb298460786c9740b01ac183e', 's4');
INSERT INTO mcp_pruner.segments VALUES (4, '', 's4', '\x6464646464646464646464646464646464646464646464646464646464646464', 'shop', '', 's1', 'code', 'Read', '/shop/main.go', 0, 0, 11, 35, '2026-11-01 03:00:00.000123+00', '2026-11-01 03:00:00.000123+00', false, 'stashed', 0, 0, '{}', '', '\x59c67c2ab1e2b724f29d1b6a394dab68b118d4a066045b3bb1301d770a08022a', '');
INSERT INTO mcp_pruner.segments VALUES (3, '', 'own', '\x6363636363636363636363636363636363636363636363636363636363636363', 'shop', '', 's2', 'log', '', '', 3, 4, 0, 8, '2026-11-01 02:00:00.000123+00', '2026-11-01 05:00:00.000123+00', false, 'stashed', -3, 3, '{}', '', '\xc9fbd865f5b1419c9e65d4381bfee26fb252a303d4cdd689aed446bf252ca847', '');
INSERT INTO mcp_pruner.segments VALUES (5, 'ann', 's5', NULL, 'shop', '', 's1', 'log', '', '', 0, 0, 0, 4, '2026-11-01 05:00:00.000123+00', '2026-11-01 05:00:00.000123+00', false, 'working', 0, 0, '{}', '', '\x7282dc5a2015eca4afb897f24924b2a9c149287a5d3e755c52ec0ab7b81e7454', '');
INSERT INTO mcp_pruner.shared_keys VALUES ('sessions', '\x58fc6ec4b265ef87ea79011a9061cc38055d9a8536028a7dd12cc63e46c1c2b4', '2026-11-28 21:43:43.970821+00');
INSERT INTO mcp_pruner.texts VALUES ('', '\x15dfc4f51b4ed90211b566886f456d23d6984e1bb298460786c9740b01ac183e', 28, '\x7061636b616765206d61696e0a66756e63206d61696e2829207b7d0a');
INSERT INTO mcp_pruner.texts VALUES ('', '\x1a515b4b95295574c1f87f634275d663b0eda76c4f532b65f348914aa4e88d43', 34, '\x6f6b2073686f7020302e31730a4641494c20636172743a204772c3b6c39f6520330a');
INSERT INTO mcp_pruner.texts VALUES ('', '\xc9fbd865f5b1419c9e65d4381bfee26fb252a303d4cdd689aed446bf252ca847', 8, '\x6f6c642074657874');
INSERT INTO mcp_pruner.texts VALUES ('', '\x59c67c2ab1e2b724f29d1b6a394dab68b118d4a066045b3bb1301d770a08022a', 35, '\x7061636b616765206d61696e0a66756e63206d61696e2829207b2072756e2829207d0a');
INSERT INTO mcp_pruner.texts VALUES ('ann', '\x7282dc5a2015eca4afb897f24924b2a9c149287a5d3e755c52ec0ab7b81e7454', 4, '\x68657273');
INSERT INTO mcp_pruner.texts VALUES ('', '\x2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806', 4, '\x6f6e650a');
INSERT INTO mcp_pruner.texts VALUES ('ann', '\x27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a', 4, '\x74776f0a');
INSERT INTO mcp_pruner.traces VALUES (1, 'w1', 2, false, 'l2', 'k', '\x7b2261223a317d0a7b2262223a327d0a', '2026-11-28 21:43:43.966029+00');
INSERT INTO mcp_pruner.traces VALUES (2, 'w1', 2, true, 'l2', 'k', '\x', '2026-11-28 21:43:43.969782+00');
INSERT INTO mcp_pruner.usage VALUES ('', 's1', 'anthropic', 'm2', 2, 11, 22, 33, 44, 110, 85, 3, '2026-11-01 05:00:00.000123+00');
INSERT INTO mcp_pruner.words VALUES (1, '{func,main,package}');
INSERT INTO mcp_pruner.words VALUES (2, '{0,1s,3,cart,fail,größe,ok,shop}');
INSERT INTO mcp_pruner.words VALUES (3, '{old,text}');
INSERT INTO mcp_pruner.words VALUES (4, '{func,main,package,run}');
INSERT INTO mcp_pruner.words VALUES (5, '{hers}');
SELECT pg_catalog.setval('mcp_pruner.announcements_seq_seq', 1, false);
SELECT pg_catalog.setval('mcp_pruner.clearings_seq_seq', 2, true);
SELECT pg_catalog.setval('mcp_pruner.marks_seq_seq', 1, true);
SELECT pg_catalog.setval('mcp_pruner.originals_seq_seq', 4, true);
SELECT pg_catalog.setval('mcp_pruner.segments_seq_seq', 5, true);
SELECT pg_catalog.setval('mcp_pruner.traces_id_seq', 2, true);
ALTER TABLE ONLY mcp_pruner.announcements
    ADD CONSTRAINT announcements_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY mcp_pruner.api_keys
    ADD CONSTRAINT api_keys_hash_key UNIQUE (hash);
ALTER TABLE ONLY mcp_pruner.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY mcp_pruner.clearings
    ADD CONSTRAINT clearings_item_since_key UNIQUE (item, since);
ALTER TABLE ONLY mcp_pruner.clearings
    ADD CONSTRAINT clearings_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY mcp_pruner.decisions
    ADD CONSTRAINT decisions_pkey PRIMARY KEY (since);
ALTER TABLE ONLY mcp_pruner.marks
    ADD CONSTRAINT marks_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY mcp_pruner.originals
    ADD CONSTRAINT originals_pkey PRIMARY KEY (subject, id);
ALTER TABLE ONLY mcp_pruner.places
    ADD CONSTRAINT places_pkey PRIMARY KEY (mark);
ALTER TABLE ONLY mcp_pruner.projects
    ADD CONSTRAINT projects_pkey PRIMARY KEY (subject, project);
ALTER TABLE ONLY mcp_pruner.schema
    ADD CONSTRAINT schema_pkey PRIMARY KEY (version);
ALTER TABLE ONLY mcp_pruner.segments
    ADD CONSTRAINT segments_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY mcp_pruner.segments
    ADD CONSTRAINT segments_subject_key_key UNIQUE (subject, key);
ALTER TABLE ONLY mcp_pruner.segments
    ADD CONSTRAINT segments_subject_project_id_key UNIQUE (subject, project, id);
ALTER TABLE ONLY mcp_pruner.shared_keys
    ADD CONSTRAINT shared_keys_pkey PRIMARY KEY (name);
ALTER TABLE ONLY mcp_pruner.texts
    ADD CONSTRAINT texts_pkey PRIMARY KEY (subject, hash);
ALTER TABLE ONLY mcp_pruner.traces
    ADD CONSTRAINT traces_pkey PRIMARY KEY (id);
ALTER TABLE ONLY mcp_pruner.traces
    ADD CONSTRAINT traces_writer_seq_final_key UNIQUE (writer, seq, final);
ALTER TABLE ONLY mcp_pruner.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (subject, session);
ALTER TABLE ONLY mcp_pruner.words
    ADD CONSTRAINT words_pkey PRIMARY KEY (seq);
CREATE INDEX api_keys_subject ON mcp_pruner.api_keys USING btree (subject);
CREATE INDEX clearings_since ON mcp_pruner.clearings USING btree (since);
CREATE INDEX originals_expires ON mcp_pruner.originals USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX originals_hash ON mcp_pruner.originals USING btree (subject, hash);
CREATE INDEX originals_seq ON mcp_pruner.originals USING btree (subject, seq) WHERE (expires_at IS NOT NULL);
CREATE INDEX places_created ON mcp_pruner.places USING btree (created_at);
CREATE INDEX segments_created ON mcp_pruner.segments USING btree (subject, project, created_at);
CREATE INDEX segments_hash ON mcp_pruner.segments USING btree (subject, hash);
CREATE INDEX segments_id ON mcp_pruner.segments USING btree (subject, id);
CREATE INDEX segments_key ON mcp_pruner.segments USING btree (key) WHERE (key IS NOT NULL);
CREATE INDEX segments_path ON mcp_pruner.segments USING btree (subject, project, path) WHERE (path <> ''::text);
CREATE INDEX segments_pinned ON mcp_pruner.segments USING btree (seq) WHERE pinned;
CREATE INDEX segments_session ON mcp_pruner.segments USING btree (subject, session, touched_at) WHERE (session <> ''::text);
CREATE INDEX traces_created ON mcp_pruner.traces USING btree (created_at);
CREATE INDEX words_words ON mcp_pruner.words USING gin (words);
ALTER TABLE ONLY mcp_pruner.originals
    ADD CONSTRAINT originals_subject_hash_fkey FOREIGN KEY (subject, hash) REFERENCES mcp_pruner.texts(subject, hash);
ALTER TABLE ONLY mcp_pruner.segments
    ADD CONSTRAINT segments_subject_hash_fkey FOREIGN KEY (subject, hash) REFERENCES mcp_pruner.texts(subject, hash);
ALTER TABLE ONLY mcp_pruner.words
    ADD CONSTRAINT words_seq_fkey FOREIGN KEY (seq) REFERENCES mcp_pruner.segments(seq) ON DELETE CASCADE;
