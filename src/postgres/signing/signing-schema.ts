/**
 * Signing schema: what servers that sign write in addition, in the same statement as a group.
 * Format: docs/formats/postgres.md, "Signed streams".
 */

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
export const SIGN_GROUP = `
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
