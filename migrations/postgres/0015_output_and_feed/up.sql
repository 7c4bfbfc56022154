-- What tasks printed, in chunks of many lines that are compressed, for PostgreSQL.

-- Lines of a task are numbered from 1 without gaps, over all its attempts; a chunk has those of one attempt that follow each
-- other. What has just been printed is there in small chunks, which are put together later.
CREATE TABLE output_chunks (
    cluster   BIGINT NOT NULL,
    task      BIGINT NOT NULL,
    -- Number of its first line, and how many it has.
    first     BIGINT NOT NULL,
    lines     BIGINT NOT NULL,
    job       BIGINT NOT NULL,
    attempt   BIGINT NOT NULL,
    first_ms  BIGINT NOT NULL,
    last_ms   BIGINT NOT NULL,
    -- Bytes before it was compressed, and as it is stored.
    unpacked  BIGINT NOT NULL,
    stored    BIGINT NOT NULL,
    -- 0: one line as it is, behind a letter for its stream; 1: columns, compressed with zstd.
    packing   BIGINT NOT NULL,
    -- 1 when it is not put together with others any more.
    settled   BIGINT NOT NULL,
    data      BYTEA  NOT NULL,
    PRIMARY KEY (cluster, task, first)
);

-- It is compressed already.
ALTER TABLE output_chunks ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE INDEX output_chunks_by_time ON output_chunks (cluster, last_ms, first_ms);
CREATE INDEX output_chunks_unsettled ON output_chunks (cluster, task, last_ms) WHERE settled = 0;

-- What is there becomes chunks of one line, which are put together like those of tasks that run.
INSERT INTO output_chunks
    (cluster, task, first, lines, job, attempt, first_ms, last_ms, unpacked, stored, packing, settled, data)
SELECT cluster, task, sequence, 1, job, attempt, at_ms, at_ms, octet_length(text) + 1,
    octet_length(text) + 1, 0, 0,
    convert_to(CASE stream WHEN 'stdout' THEN 'o' WHEN 'stderr' THEN 'e' ELSE 's' END || text, 'UTF8')
FROM task_output ORDER BY cluster, task, sequence;

DROP TABLE task_output;

-- The order of all events of all clusters, for those who follow them. SQLite has it in the row's own number.
ALTER TABLE journal ADD COLUMN place BIGINT GENERATED ALWAYS AS IDENTITY;
CREATE UNIQUE INDEX journal_by_place ON journal (place);
