-- Who did what: append-only, numbered from 1 without gaps, each row with a hash over itself and the one before.
CREATE TABLE audit (
    sequence    BIGINT  NOT NULL PRIMARY KEY,
    at_ms       BIGINT  NOT NULL,
    request     TEXT    NOT NULL,
    tenant      TEXT    NOT NULL,
    username    TEXT    NOT NULL,
    credential  TEXT    NOT NULL,
    peer        TEXT    NOT NULL,
    forwarded   TEXT    NOT NULL,
    port        TEXT    NOT NULL,
    action      TEXT    NOT NULL,
    object      TEXT    NOT NULL,
    status      BIGINT  NOT NULL,
    hash        TEXT    NOT NULL
);

CREATE INDEX audit_by_tenant ON audit (tenant, sequence);
CREATE INDEX audit_by_time ON audit (at_ms);

-- Where the rows begin and end: 'anchor' is the last one that was removed on purpose, 'head' the last one written.
CREATE TABLE audit_chain (
    name      TEXT   NOT NULL PRIMARY KEY,
    sequence  BIGINT NOT NULL,
    hash      TEXT   NOT NULL
);

INSERT INTO audit_chain (name, sequence, hash) VALUES ('anchor', 0, ''), ('head', 0, '');
