-- Clusters that are built upon others, or carry others. Clusters that do neither have no row.
CREATE TABLE ancestry (
    cluster         BIGINT PRIMARY KEY,
    parent          BIGINT,
    -- The tenant's foundation when the cluster was asked for, unless it is an ancestor anyway.
    foundation      BIGINT,
    -- Hash of what the cluster handed down when it came to rest last.
    hands_down      TEXT,
    -- Hashes of what it holds of its parent and of its foundation: with those above they say who has missed something.
    parent_seen     TEXT,
    foundation_seen TEXT
);
CREATE INDEX ancestry_by_parent ON ancestry (parent) WHERE parent IS NOT NULL;
CREATE INDEX ancestry_by_foundation ON ancestry (foundation) WHERE foundation IS NOT NULL;

-- The cluster of a tenant that all its later ones are built upon, behind their parents.
CREATE TABLE foundations (
    tenant  TEXT   PRIMARY KEY,
    cluster BIGINT NOT NULL
);
