-- What was foreseen when jobs were planned, for PostgreSQL.

-- How long tasks that were planned together were taken to need, as JSON: by number, in ms. Estimates get better with every task; what a
-- job took is held against what was said before it began.
CREATE TABLE foreseen (
    cluster BIGINT NOT NULL,
    job     BIGINT NOT NULL,
    -- Number of the first of the tasks: jobs that are extended have more rows.
    first   BIGINT NOT NULL,
    tasks   TEXT   NOT NULL,
    PRIMARY KEY (cluster, job, first)
);
