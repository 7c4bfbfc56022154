-- Who brings workers: registrations survive a restart of the server, so that workers go on with what they have.
CREATE TABLE provisioners (
    id        TEXT   NOT NULL PRIMARY KEY,
    document  TEXT   NOT NULL,
    seen_ms   BIGINT NOT NULL
);
