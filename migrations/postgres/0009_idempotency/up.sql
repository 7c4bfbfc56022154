-- Requests that callers may repeat without their being carried out twice: the key they chose, and what was answered.
CREATE TABLE idempotency (
    tenant        TEXT   NOT NULL,
    username      TEXT   NOT NULL,
    key           TEXT   NOT NULL,
    -- Hash of method, path and body: a key stands for one request.
    request       TEXT   NOT NULL,
    -- The number the cluster got that the request is about to create, before it is created.
    cluster       BIGINT,
    -- What was answered: NULL while the request is carried out, or when the server was killed over it.
    status        BIGINT,
    content_type  TEXT,
    -- The body, sealed: it may hold a secret.
    answer        TEXT,
    expires_ms    BIGINT NOT NULL,
    PRIMARY KEY (tenant, username, key)
);

CREATE INDEX idempotency_by_expiry ON idempotency (expires_ms);
