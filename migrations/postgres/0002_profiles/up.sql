-- What users keep for themselves, for PostgreSQL: as ../../sqlite/0002_profiles says it.

-- One JSON object per user, of which only the user knows the meaning.
CREATE TABLE profiles (
    tenant    TEXT NOT NULL,
    username  TEXT NOT NULL,
    document  TEXT NOT NULL,
    PRIMARY KEY (tenant, username)
);

-- Nodes that users made known by themselves; those of clusters are in the table nodes.
CREATE TABLE registered_nodes (
    tenant    TEXT NOT NULL,
    id        TEXT NOT NULL,
    owner     TEXT NOT NULL,
    document  TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
);
