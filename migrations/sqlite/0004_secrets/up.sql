-- What is kept under seal, for SQLite: as ../../postgres/0004_secrets says it.

-- Secrets that users gave for a cluster, encrypted; gone when the cluster is terminated.
CREATE TABLE secrets (
    cluster  BIGINT NOT NULL PRIMARY KEY,
    sealed   TEXT   NOT NULL
) WITHOUT ROWID;
