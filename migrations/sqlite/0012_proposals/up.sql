-- Changes that are stored to be made later, for SQLite: as ../../postgres/0012_proposals says it.
CREATE TABLE proposals (
    cluster     BIGINT NOT NULL,
    -- Counts those of the cluster from 1, of both kinds.
    number      BIGINT NOT NULL,
    -- 'plan' or 'draft'.
    kind        TEXT   NOT NULL,
    title       TEXT   NOT NULL,
    -- The state of the cluster it was made on: number of its last event then.
    base        BIGINT NOT NULL,
    -- What is to be done, as JSON: a plan's command, a draft's operation. Never with secrets.
    document    TEXT   NOT NULL,
    -- What a plan would record and what was told of it, as JSON; NULL for drafts.
    decided     TEXT,
    preview     TEXT,
    -- How often it was changed: whoever changes it says which one was seen.
    edition     BIGINT NOT NULL,
    created_ms  BIGINT NOT NULL,
    created_by  TEXT   NOT NULL,
    changed_ms  BIGINT NOT NULL,
    changed_by  TEXT   NOT NULL,
    -- When it was carried out, and by whom; NULL while it was not.
    done_ms     BIGINT,
    done_by     TEXT,
    PRIMARY KEY (cluster, number)
) WITHOUT ROWID;
