"""The tables of the partitions, and the move of what was stored before into them."""

from __future__ import annotations

PARTITIONED = ("ratings", "replies", "records")

# A role that may write but owns nothing can begin a run all the same: the function has its owner's rights. So it
# asks first whether whoever calls it may write. A table is attached, not created in its place, because that waits
# for no reader.
_PART_OF_RUN = """CREATE FUNCTION part_of_run(name text) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = medjury, pg_temp AS $$
    DECLARE
        number integer;
        whole text;
        own text;
    BEGIN
        IF NOT has_table_privilege(session_user, 'ratings', 'INSERT') THEN
            RAISE insufficient_privilege USING MESSAGE = 'permission denied for table ratings';
        END IF;
        SELECT part INTO number FROM parts WHERE run = name;
        IF number IS NOT NULL THEN
            RETURN number;
        END IF;
        INSERT INTO parts (run) VALUES (name) ON CONFLICT (run) DO NOTHING RETURNING part INTO number;
        IF number IS NULL THEN  -- another session made it while this one waited
            SELECT part INTO number FROM parts WHERE run = name;
            RETURN number;
        END IF;
        INSERT INTO run_parts (run, part) VALUES (name, number);
        FOREACH whole IN ARRAY ARRAY['ratings', 'replies', 'records'] LOOP
            own := whole || '_' || number;
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', own, whole);
            EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE OR TRUNCATE ON %I FOR EACH STATEMENT '
                'EXECUTE FUNCTION refuse_change()', own || '_never_change', own);
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES IN (%s)', whole, own, number);
        END LOOP;
        RETURN number;
    END $$"""

_NUMBERED = tuple(
    statement
    for table in ("ratings", "records")
    for statement in (
        f"CREATE SEQUENCE {table}_number OWNED BY {table}.sequence",
        # No text is in a number, and who may not use the schema may not use this either.
        f"GRANT USAGE ON SEQUENCE {table}_number TO PUBLIC",
        f"ALTER TABLE {table} ALTER COLUMN sequence SET DEFAULT nextval('{table}_number')",
    )
)

_MOVED = (
    """DO $$ DECLARE name text; BEGIN
        FOR name IN SELECT run FROM runs UNION SELECT run FROM members UNION SELECT run FROM replies_before LOOP
            PERFORM part_of_run(name);
        END LOOP;
    END $$""",
    # What several runs share lies with the oldest of them; what no run has lies in part 0.
    """INSERT INTO unit_parts (key, part) SELECT DISTINCT ON (stored.key) stored.key, coalesce(parts.part, 0)
        FROM (SELECT key FROM ratings_before UNION SELECT key FROM records_before) AS stored
        LEFT JOIN members ON members.key = stored.key LEFT JOIN runs ON runs.run = members.run
        LEFT JOIN parts ON parts.run = members.run
        ORDER BY stored.key, runs.created_at NULLS LAST, members.run""",
    "INSERT INTO reply_parts (key, part) SELECT key, part FROM replies_before JOIN parts USING (run)",
    """INSERT INTO run_parts (run, part) SELECT DISTINCT run, part FROM members JOIN unit_parts USING (key)
        ON CONFLICT DO NOTHING""",
    "INSERT INTO ratings SELECT before.*, part FROM ratings_before AS before JOIN unit_parts USING (key)",
    "INSERT INTO records SELECT before.*, part FROM records_before AS before JOIN unit_parts USING (key)",
    "INSERT INTO replies SELECT before.*, part FROM replies_before AS before JOIN reply_parts USING (key)",
    *(
        f"SELECT setval('{table}_number', max(sequence)) FROM {table} HAVING max(sequence) IS NOT NULL"  # noqa: S608
        for table in ("ratings", "records")
    ),
    """DO $$ BEGIN
        IF (SELECT count(*) FROM ratings) <> (SELECT count(*) FROM ratings_before)
            OR (SELECT count(*) FROM replies) <> (SELECT count(*) FROM replies_before)
            OR (SELECT count(*) FROM records) <> (SELECT count(*) FROM records_before) THEN
            RAISE EXCEPTION 'not every row found its part';
        END IF;
    END $$""",
    *(f"DROP TABLE {table}_before" for table in PARTITIONED),
)

MIGRATION = (
    "CREATE TABLE parts (part INTEGER GENERATED ALWAYS AS IDENTITY (MINVALUE 0) PRIMARY KEY, "
    "run {text} NOT NULL UNIQUE)",
    "CREATE TABLE run_parts (run {text} NOT NULL, part INTEGER NOT NULL, PRIMARY KEY (run, part))",
    "CREATE TABLE unit_parts (key {text} PRIMARY KEY, part INTEGER NOT NULL)",
    "CREATE TABLE reply_parts (key {text} PRIMARY KEY, part INTEGER NOT NULL)",
    "CREATE INDEX members_by_key ON members (key)",
    *(
        statement
        for table in PARTITIONED
        for statement in (
            f"ALTER TABLE {table} RENAME TO {table}_before",
            f"CREATE TABLE {table} (LIKE {table}_before INCLUDING DEFAULTS INCLUDING CONSTRAINTS, "
            "part INTEGER NOT NULL) PARTITION BY LIST (part)",
        )
    ),
    *_NUMBERED,
    _PART_OF_RUN,
    "SELECT part_of_run('')",
    *_MOVED,
    "ALTER TABLE ratings ADD PRIMARY KEY (sequence, part)",
    "ALTER TABLE ratings ADD UNIQUE (key, dimension, attempt, part)",
    "ALTER TABLE records ADD PRIMARY KEY (sequence, part)",
    "CREATE INDEX records_by_key ON records (key)",
    "ALTER TABLE replies ADD PRIMARY KEY (key, part)",
    *(
        f"CREATE TRIGGER {table}_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        for table in PARTITIONED
    ),
)
