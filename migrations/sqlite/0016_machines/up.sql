-- Summaries of clusters say how many machines of each hardware type they have, for SQLite.

-- Those that were written before get it from their nodes, as their next event would write it.
UPDATE clusters SET summary = json_set(summary, '$.machines', json(COALESCE((
    SELECT json_group_object(hardware, machines) FROM (
        SELECT COALESCE(json_extract(document, '$.hardwaretype'), '') AS hardware, count(*) AS machines
        FROM nodes WHERE nodes.cluster = clusters.id GROUP BY 1)), '{}')));
