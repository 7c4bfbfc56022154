-- Summaries of clusters say how many machines of each hardware type they have, for PostgreSQL.

-- Those that were written before get it from their nodes, as their next event would write it.
UPDATE clusters SET summary = jsonb_set(summary::jsonb, '{machines}', COALESCE((
    SELECT jsonb_object_agg(hardware, machines) FROM (
        SELECT COALESCE(document::jsonb ->> 'hardwaretype', '') AS hardware, count(*) AS machines
        FROM nodes WHERE nodes.cluster = clusters.id GROUP BY 1) AS counted), '{}'::jsonb))::text;
