/**
 * Schema: the tables of a store and the function that writes to them. Format:
 * docs/formats/postgres.md.
 *
 * Each migration runs once, in order, in one transaction with the number that it sets; servers that
 * start together wait for one another. A change is a new migration, never an edit of an old one.
 */

/** The columns of a stream's state, in the table and in what `commit_group` gets. */
export const STATE_COLUMNS = `sid bigint, status text, "readSeq" bigint, "isJson" boolean, base bigint, "end" bigint,
  "isClosed" boolean, forks bigint, "createdAt" bigint, "touchedAt" bigint, ttl bigint,
  "expiresAt" bigint, "deletedAt" bigint, settings text`;

/** The number of records among the units. */
export const RECORDS_UNIT = -2;

/** The numbers of a stream that a path has before its first use. */
const NEVER_USED = `0, '', 0, false, 0, 0, false, 0, 0, 0, NULL, NULL, NULL, ''`;

export const TABLES = `
CREATE TABLE streams (
  key bytea PRIMARY KEY,
  path text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  ${STATE_COLUMNS}
) WITH (fillfactor = 70);
CREATE INDEX streams_by_path ON streams (substr(path, 1, 500) COLLATE "C");
CREATE INDEX streams_by_expiry ON streams ("expiresAt") WHERE "expiresAt" IS NOT NULL;

CREATE TABLE messages (
  sid bigint NOT NULL,
  "end" bigint NOT NULL,
  time bigint NOT NULL,
  crc integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (sid, "end")
);
ALTER TABLE messages ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE producers (
  sid bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  epoch bigint NOT NULL,
  seq bigint NOT NULL,
  PRIMARY KEY (sid, id)
);

CREATE TABLE records (key text COLLATE "C" PRIMARY KEY, value text NOT NULL);
CREATE TABLE removals (sid bigint PRIMARY KEY, "deletedAt" bigint NOT NULL);
CREATE INDEX removals_by_time ON removals ("deletedAt");
CREATE TABLE leases (name text PRIMARY KEY, holder text NOT NULL, until timestamptz NOT NULL);

CREATE TABLE commits (
  id text PRIMARY KEY,
  server text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  paths text[] NOT NULL,
  stale integer[] NOT NULL DEFAULT '{}'
);
CREATE INDEX commits_by_xid ON commits (xid);
CREATE INDEX commits_by_time ON commits (at);
`;

/**
 * Makes one group of changes durable: those whose streams are as the server knew them.
 *
 * A unit is a set of changes that belong together. If a stream that a unit was decided on has
 * another version by now, nothing of the unit is written, and its number is returned.
 *
 * A second call with the same `commit_id` writes nothing and returns what the first returned, also
 * if the first is still running: it waits for it. It takes a transaction id (the default of `xid`),
 * so that its commit waits for a synchronous standby too, which may not have the first one yet.
 *
 * Rows are locked in the order of their keys, new ones first: groups never wait in a circle. The
 * caller sorts `seen_keys`. A stream that only grew has an end in `grown_ends`; a group of nothing
 * else (`is_plain`) needs no locks beforehand, because the update itself compares the versions.
 *
 * Records belong to the work of one server. If another has its lease by now, they are not written:
 * a server that was frozen does not undo what its successor did.
 *
 * Joins are by index, row by row: a plan for a small table would read all of a large one.
 */
const COMMIT_GROUP = `
CREATE FUNCTION commit_group(
  commit_id text, server_id text, changed_paths text[], is_plain boolean,
  seen_keys bytea[], seen_paths text[], seen_versions bigint[], seen_units integer[],
  grown_ends bigint[], grown_at bigint[], new_states json,
  m_units integer[], m_sids bigint[], m_ends bigint[], m_times bigint[], m_crcs integer[],
  m_places integer[], m_lengths integer[], m_bytes bytea,
  p_units integer[], p_sids bigint[], p_ids text[], p_epochs bigint[], p_seqs bigint[],
  new_removals json, new_records json,
  touched_keys bytea[], touched_at bigint[]
) RETURNS integer[] LANGUAGE plpgsql SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
  old_units integer[] := '{}';
  lease_holder text;
BEGIN
  INSERT INTO commits (id, server, paths) VALUES (commit_id, server_id, changed_paths)
    ON CONFLICT (id) DO NOTHING;
  IF NOT FOUND THEN
    RETURN (SELECT c.stale FROM commits c WHERE c.id = commit_id);
  END IF;

  IF NOT is_plain THEN
    INSERT INTO streams
      SELECT s.key, s.path, 0, ${NEVER_USED}
      FROM unnest(seen_keys, seen_paths, seen_versions) AS s(key, path, version)
      WHERE s.version = 0 ORDER BY s.key ON CONFLICT (key) DO NOTHING;

    PERFORM 1 FROM streams s WHERE s.key = ANY (seen_keys || touched_keys)
      ORDER BY s.key FOR UPDATE;
    SELECT coalesce(array_agg(DISTINCT n.unit), '{}') INTO old_units
      FROM unnest(seen_keys, seen_versions, seen_units) AS n(key, version, unit)
      WHERE n.version IS DISTINCT FROM (SELECT s.version FROM streams s WHERE s.key = n.key);

    UPDATE streams s SET version = s.version + 1, sid = n.sid, status = n.status,
        "readSeq" = n."readSeq", "isJson" = n."isJson", base = n.base, "end" = n."end",
        "isClosed" = n."isClosed", forks = n.forks, "createdAt" = n."createdAt",
        "touchedAt" = n."touchedAt", ttl = n.ttl, "expiresAt" = n."expiresAt",
        "deletedAt" = n."deletedAt", settings = n.settings
      FROM json_to_recordset(new_states) AS n(unit integer, key bytea, ${STATE_COLUMNS})
      WHERE s.key = n.key AND n.unit <> ALL (old_units);
  END IF;

  WITH grown AS (
    UPDATE streams s SET version = s.version + 1, "end" = n."end", "touchedAt" = n.at,
        "expiresAt" = coalesce(n.at + s.ttl, s."expiresAt")
      FROM unnest(seen_keys, seen_versions, seen_units, grown_ends, grown_at)
        AS n(key, version, unit, "end", at)
      WHERE s.key = n.key AND s.version = n.version AND n."end" IS NOT NULL
        AND n.unit <> ALL (old_units)
      RETURNING n.unit
  )
  SELECT old_units || array(
    SELECT n.unit FROM unnest(seen_units, grown_ends) AS n(unit, "end")
      WHERE n."end" IS NOT NULL AND n.unit <> ALL (old_units)
    EXCEPT SELECT unit FROM grown
  ) INTO old_units;

  INSERT INTO messages
    SELECT m.sid, m."end", m.time, m.crc, substring(m_bytes FROM m.place + 1 FOR m.length)
    FROM unnest(m_units, m_sids, m_ends, m_times, m_crcs, m_places, m_lengths)
      AS m(unit, sid, "end", time, crc, place, length)
    WHERE m.unit <> ALL (old_units);

  IF cardinality(p_units) > 0 THEN
    INSERT INTO producers
      SELECT p.sid, p.id, p.epoch, p.seq
      FROM unnest(p_units, p_sids, p_ids, p_epochs, p_seqs) AS p(unit, sid, id, epoch, seq)
      WHERE p.unit <> ALL (old_units)
      ON CONFLICT (sid, id) DO UPDATE SET epoch = excluded.epoch, seq = excluded.seq;
  END IF;

  IF new_removals IS NOT NULL THEN
    INSERT INTO removals SELECT r.sid, r.at
      FROM json_to_recordset(new_removals) AS r(unit integer, sid bigint, at bigint)
      WHERE r.unit <> ALL (old_units);
  END IF;

  IF new_records IS NOT NULL THEN
    SELECT holder INTO lease_holder FROM leases WHERE name = 'subscriptions' FOR SHARE;
    IF lease_holder <> server_id THEN
      old_units := old_units || ${RECORDS_UNIT};
    ELSE
      DELETE FROM records WHERE key IN (
        SELECT r.key FROM json_to_recordset(new_records) AS r(key text, value text)
        WHERE r.value IS NULL);
      INSERT INTO records
        SELECT r.key, r.value FROM json_to_recordset(new_records) AS r(key text, value text)
        WHERE r.value IS NOT NULL ORDER BY r.key
        ON CONFLICT (key) DO UPDATE SET value = excluded.value;
    END IF;
  END IF;

  IF cardinality(touched_keys) > 0 THEN
    UPDATE streams s SET version = s.version + 1, "touchedAt" = t.at, "expiresAt" = t.at + s.ttl
      FROM unnest(touched_keys, touched_at) AS t(key, at)
      WHERE s.key = t.key AND s.status = 'live' AND s.ttl IS NOT NULL AND t.at > s."touchedAt";
  END IF;

  IF cardinality(old_units) > 0 THEN
    UPDATE commits SET stale = old_units WHERE id = commit_id;
  END IF;
  RETURN old_units;
END $$;
`;

export const CHECKPOINTS = `
CREATE TABLE checkpoints (
  sid bigint NOT NULL,
  "end" bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (sid, "end")
);
`;

/** Written by `evidence/share/share-tables.ts`. */
export const SHARES = `
CREATE TABLE shares (
  id text PRIMARY KEY,
  sha256 text UNIQUE NOT NULL,
  "createdAt" bigint NOT NULL,
  "expiresAt" bigint NOT NULL,
  "revokedAt" bigint,
  "isLive" boolean NOT NULL,
  version bigint NOT NULL DEFAULT 0,
  taken bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  settings text NOT NULL
);
CREATE TABLE share_parts (
  share text NOT NULL REFERENCES shares ON DELETE CASCADE,
  version bigint NOT NULL,
  part integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (share, version, part)
);
`;

export const UNSIGNED = `
CREATE TABLE unsigned (
  sid bigint NOT NULL,
  "end" bigint NOT NULL,
  start bigint NOT NULL,
  key bytea NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  mac bytea NOT NULL,
  PRIMARY KEY (sid, "end")
);
CREATE INDEX unsigned_by_time ON unsigned (at);
`;

/**
 * Writes checkpoints and notes unsigned bytes, for the units that `commit_group` wrote. It does so
 * only in the transaction in which that group was written: a group that is sent twice is signed
 * once.
 */
const SIGN_GROUP = `
CREATE FUNCTION sign_group(
  commit_id text, old_units integer[], new_checkpoints json, now_signed json, new_unsigned json
) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM commits c WHERE c.id = commit_id AND c.xid = pg_current_xact_id()) THEN
    RETURN;
  END IF;
  INSERT INTO checkpoints
    SELECT n.sid, n."end", convert_to(n.lines, 'UTF8')
    FROM json_to_recordset(new_checkpoints) AS n(unit integer, sid bigint, "end" bigint, lines text)
    WHERE n.unit <> ALL (old_units);
  DELETE FROM unsigned u
    USING json_to_recordset(now_signed) AS n(unit integer, sid bigint, "upTo" bigint)
    WHERE u.sid = n.sid AND u."end" <= n."upTo" AND n.unit <> ALL (old_units);
  INSERT INTO unsigned (sid, "end", start, key, mac)
    SELECT n.sid, n."end", n.start, n.key, n.mac
    FROM json_to_recordset(new_unsigned)
      AS n(unit integer, sid bigint, "end" bigint, start bigint, key bytea, mac bytea)
    WHERE n.unit <> ALL (old_units) ON CONFLICT (sid, "end") DO NOTHING;
END $$;
`;

/** Tokens of servers (server/auth/token-tables.ts). */
export const TOKENS = `
CREATE TABLE tokens (
  id text PRIMARY KEY,
  place bigint GENERATED ALWAYS AS IDENTITY,
  entry text NOT NULL
);
CREATE TABLE token_list (version bigint NOT NULL);
INSERT INTO token_list VALUES (0);
CREATE TABLE token_writes (
  token text NOT NULL,
  server text NOT NULL,
  streams bigint NOT NULL,
  bytes bigint NOT NULL,
  until timestamptz NOT NULL,
  PRIMARY KEY (token, server)
);
`;

export const MIGRATIONS: readonly string[] = [
  TABLES,
  CHECKPOINTS,
  UNSIGNED + SIGN_GROUP,
  `DROP FUNCTION IF EXISTS commit_group; ${COMMIT_GROUP}`, // It was part of the first.
  SHARES,
  TOKENS,
];
