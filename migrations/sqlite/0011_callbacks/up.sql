-- Who is called when jobs begin and end, for SQLite: as ../../postgres/0011_callbacks says it.

-- Hooks that tenants made. `events` and `actions` are words with blanks between; no actions: all. The secret that signs calls
-- is sealed.
CREATE TABLE callbacks (
    id          TEXT   NOT NULL PRIMARY KEY,
    tenant      TEXT   NOT NULL,
    name        TEXT   NOT NULL,
    url         TEXT   NOT NULL,
    events      TEXT   NOT NULL,
    actions     TEXT   NOT NULL,
    timeout_ms  BIGINT NOT NULL,
    on_error    TEXT   NOT NULL,
    sealed      TEXT,
    created_ms  BIGINT NOT NULL,
    created_by  TEXT   NOT NULL,
    UNIQUE (tenant, name)
) WITHOUT ROWID;

-- What happened that somebody may have to be told: written with the event that says so, gone as soon as it is known who is told.
CREATE TABLE callback_occurrences (
    cluster   BIGINT NOT NULL,
    sequence  BIGINT NOT NULL,
    tenant    TEXT   NOT NULL,
    at_ms     BIGINT NOT NULL,
    event     TEXT   NOT NULL,
    action    TEXT,
    job       BIGINT,
    document  TEXT   NOT NULL,
    PRIMARY KEY (cluster, sequence)
) WITHOUT ROWID;

-- Calls of hooks, made and to be made. `next_ms` is when the next try is due; NULL when there is none. Those of hooks of the
-- settings belong to the superadmin's tenant.
CREATE TABLE callback_deliveries (
    id          TEXT   NOT NULL PRIMARY KEY,
    callback    TEXT   NOT NULL,
    tenant      TEXT   NOT NULL,
    event       TEXT   NOT NULL,
    action      TEXT,
    cluster     BIGINT,
    job         BIGINT,
    body        TEXT   NOT NULL,
    created_ms  BIGINT NOT NULL,
    status      TEXT   NOT NULL,
    attempts    BIGINT NOT NULL,
    tries_left  BIGINT NOT NULL,
    next_ms     BIGINT
) WITHOUT ROWID;

CREATE INDEX callback_deliveries_due ON callback_deliveries (next_ms) WHERE next_ms IS NOT NULL;
CREATE INDEX callback_deliveries_by_hook ON callback_deliveries (callback, created_ms);

-- Tries of calls, with what was answered: the first part of it.
CREATE TABLE callback_attempts (
    delivery     TEXT   NOT NULL,
    number       BIGINT NOT NULL,
    at_ms        BIGINT NOT NULL,
    duration_ms  BIGINT NOT NULL,
    code         BIGINT,
    answer       TEXT   NOT NULL,
    fault        TEXT,
    PRIMARY KEY (delivery, number)
) WITHOUT ROWID;
