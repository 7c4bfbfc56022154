-- Secret values given with requests for clusters, sealed; the key lies outside the database.
CREATE TABLE secrets (
    cluster  BIGINT NOT NULL PRIMARY KEY,
    sealed   TEXT   NOT NULL
);
