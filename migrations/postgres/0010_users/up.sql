-- Who may do what, for PostgreSQL.

-- People and programs of a tenant. Without a password nobody can log in as one; tokens work.
CREATE TABLE users (
    tenant         TEXT   NOT NULL,
    name           TEXT   NOT NULL,
    role           TEXT   NOT NULL,
    password_hash  TEXT,
    created_ms     BIGINT NOT NULL,
    disabled_ms    BIGINT,
    PRIMARY KEY (tenant, name)
);

-- The holder of the token that a first start makes.
INSERT INTO users (tenant, name, role, created_ms) VALUES ('superadmin', 'admin', 'superadmin', 0);

-- Those who logged in: only a hash of what their browsers keep.
CREATE TABLE sessions (
    id          TEXT   NOT NULL PRIMARY KEY,
    hash        TEXT   NOT NULL UNIQUE,
    tenant      TEXT   NOT NULL,
    username    TEXT   NOT NULL,
    created_ms  BIGINT NOT NULL,
    expires_ms  BIGINT NOT NULL
);

CREATE INDEX sessions_by_user ON sessions (tenant, username);

-- What a token is for, in its holder's words, and what it is limited to: scopes with blanks between.
ALTER TABLE tokens ADD COLUMN label TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN scopes TEXT NOT NULL DEFAULT '';
