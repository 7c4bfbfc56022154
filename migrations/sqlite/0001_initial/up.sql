-- The first shape of the store, for SQLite.
--
-- The text is that of ../../postgres/0001_initial but for two things: tables of small rows that change often are WITHOUT
-- ROWID (one tree to write instead of two; the journal is not: its rows are long, and side by side in the order of writing
-- they fill few pages per commit), and the id of a cluster is INTEGER, which is 64 bits wide here and is then the rowid.
-- Times are milliseconds since 1970 in BIGINT; JSON is kept in TEXT.

-- What operators describe; every version is kept.
CREATE TABLE entities (
    tenant      TEXT   NOT NULL,
    kind        TEXT   NOT NULL,
    name        TEXT   NOT NULL,
    version     BIGINT NOT NULL,
    document    TEXT   NOT NULL,
    created_ms  BIGINT NOT NULL,
    PRIMARY KEY (tenant, kind, name, version)
);

CREATE TABLE tenants (
    id        TEXT NOT NULL PRIMARY KEY,
    name      TEXT NOT NULL UNIQUE,
    document  TEXT NOT NULL
);

INSERT INTO tenants (id, name, document)
VALUES ('superadmin', 'superadmin', '{"name":"superadmin","description":"The operators of this installation"}');

CREATE TABLE counters (
    name   TEXT   NOT NULL PRIMARY KEY,
    value  BIGINT NOT NULL
);

-- Append-only: what happened to each cluster, numbered from 1 without gaps.
CREATE TABLE journal (
    cluster        BIGINT NOT NULL,
    sequence       BIGINT NOT NULL,
    at_ms          BIGINT NOT NULL,
    actor          TEXT   NOT NULL,
    who            TEXT   NOT NULL,
    event_version  BIGINT NOT NULL,
    event          TEXT   NOT NULL,
    PRIMARY KEY (cluster, sequence)
);

-- The state of a cluster after the event of that number: where a replay may start.
CREATE TABLE snapshots (
    cluster   BIGINT NOT NULL,
    sequence  BIGINT NOT NULL,
    state     TEXT   NOT NULL,
    PRIMARY KEY (cluster, sequence)
);

-- Which server may append to a cluster's journal, and since which take-over.
CREATE TABLE ownership (
    cluster  BIGINT NOT NULL PRIMARY KEY,
    server   TEXT   NOT NULL,
    epoch    BIGINT NOT NULL
) WITHOUT ROWID;

CREATE INDEX ownership_by_server ON ownership (server);

-- Servers of the installation and when each was last heard of.
CREATE TABLE servers (
    name     TEXT   NOT NULL PRIMARY KEY,
    seen_ms  BIGINT NOT NULL
);

-- Read tables: projections of the journal, written in the transaction of the events they show.
CREATE TABLE clusters (
    id           INTEGER NOT NULL PRIMARY KEY,
    tenant       TEXT   NOT NULL,
    owner        TEXT   NOT NULL,
    name         TEXT   NOT NULL,
    status       TEXT   NOT NULL,
    template     TEXT   NOT NULL,
    provider     TEXT   NOT NULL,
    created_ms   BIGINT NOT NULL,
    expires_ms   BIGINT NOT NULL,
    nodes        BIGINT NOT NULL,
    latest_job   BIGINT,
    steps_total  BIGINT NOT NULL,
    steps_done   BIGINT NOT NULL,
    message      TEXT,
    summary      TEXT   NOT NULL
);

CREATE INDEX clusters_by_tenant ON clusters (tenant, created_ms, id);
CREATE INDEX clusters_live ON clusters (id) WHERE status <> 'terminated';

CREATE TABLE nodes (
    id        TEXT   NOT NULL PRIMARY KEY,
    cluster   BIGINT NOT NULL,
    tenant    TEXT   NOT NULL,
    number    BIGINT NOT NULL,
    hostname  TEXT,
    status    TEXT   NOT NULL,
    document  TEXT   NOT NULL
);

CREATE INDEX nodes_by_cluster ON nodes (cluster, number);

CREATE TABLE jobs (
    cluster     BIGINT NOT NULL,
    number      BIGINT NOT NULL,
    action      TEXT   NOT NULL,
    status      TEXT   NOT NULL,
    started_ms  BIGINT,
    ended_ms    BIGINT,
    message     TEXT,
    PRIMARY KEY (cluster, number)
) WITHOUT ROWID;

CREATE TABLE tasks (
    cluster     BIGINT NOT NULL,
    number      BIGINT NOT NULL,
    job         BIGINT NOT NULL,
    node        TEXT   NOT NULL,
    service     TEXT   NOT NULL,
    name        TEXT   NOT NULL,
    status      TEXT   NOT NULL,
    attempts    BIGINT NOT NULL,
    started_ms  BIGINT,
    ended_ms    BIGINT,
    code        BIGINT,
    PRIMARY KEY (cluster, number)
) WITHOUT ROWID;

-- How long tasks of a sort took: number, mean, and sum of squared deviations from it.
CREATE TABLE task_durations (
    key      TEXT             NOT NULL PRIMARY KEY,
    n        BIGINT           NOT NULL,
    mean_ms  DOUBLE PRECISION NOT NULL,
    m2       DOUBLE PRECISION NOT NULL
);

-- What tasks printed, in chunks numbered from 1 without gaps for each task.
CREATE TABLE task_output (
    cluster   BIGINT NOT NULL,
    task      BIGINT NOT NULL,
    sequence  BIGINT NOT NULL,
    job       BIGINT NOT NULL,
    attempt   BIGINT NOT NULL,
    at_ms     BIGINT NOT NULL,
    stream    TEXT   NOT NULL,
    text      TEXT   NOT NULL,
    PRIMARY KEY (cluster, task, sequence)
);

-- Tokens of API users: only a hash of the secret is kept.
CREATE TABLE tokens (
    id          TEXT   NOT NULL PRIMARY KEY,
    hash        TEXT   NOT NULL UNIQUE,
    tenant      TEXT   NOT NULL,
    username    TEXT   NOT NULL,
    role        TEXT   NOT NULL,
    created_ms  BIGINT NOT NULL,
    expires_ms  BIGINT,
    revoked_ms  BIGINT
);

CREATE INDEX tokens_by_tenant ON tokens (tenant, created_ms);

-- Files used by plugins; the bytes lie on disk under their sha256.
CREATE TABLE resources (
    tenant   TEXT   NOT NULL,
    side     TEXT   NOT NULL,
    plugin   TEXT   NOT NULL,
    kind     TEXT   NOT NULL,
    name     TEXT   NOT NULL,
    version  BIGINT NOT NULL,
    status   TEXT   NOT NULL,
    sha256   TEXT   NOT NULL,
    size     BIGINT NOT NULL,
    PRIMARY KEY (tenant, side, plugin, kind, name, version)
);
