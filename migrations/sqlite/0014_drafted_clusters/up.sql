-- Clusters that are thought up before they are created, for SQLite.

-- Whose cluster it would be: of proposals of the kind 'new cluster', whose `cluster` is the number it will have.
ALTER TABLE proposals ADD COLUMN tenant TEXT;
CREATE INDEX proposals_tenant ON proposals (tenant);
