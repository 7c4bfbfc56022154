-- Secrets sealed under keys of their tenants; the master keys that wrap those lie in a file outside the database.
CREATE TABLE data_keys (
    id       TEXT NOT NULL PRIMARY KEY,
    tenant   TEXT NOT NULL UNIQUE,
    master   TEXT NOT NULL,
    wrapped  TEXT NOT NULL
);

-- The sealed values of the fields that are masked in the document, as a JSON object; NULL when it has none.
ALTER TABLE entities ADD COLUMN sealed TEXT;

-- Whose key seals the values; NULL for those that an earlier release sealed with the master key itself.
ALTER TABLE secrets ADD COLUMN tenant TEXT;
