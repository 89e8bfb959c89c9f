/** Schemas: the shapes of answers about sessions, by their names in the OpenAPI document. */

import * as outlined from "../../client/outline-shapes.ts";
import {
  boolean,
  choice,
  constant,
  count,
  describeSchema,
  list,
  object,
  offset,
  orNull,
  type Schema,
  string,
} from "../../client/schema.ts";
import * as of from "../../client/session-shapes.ts";
import * as used from "../../client/usage-shapes.ts";
import { LEGACY_PROFILE } from "../../trust/proof/envelopes.ts";
import { VERDICTS } from "../../trust/proof/verdict.ts";
import { SERVED_DIALECTS } from "./roots.ts";

const VERDICT = choice(VERDICTS);
const HEAD = { seq: count, byte_offset: count };

const REPORT = object({
  schema: constant("verbatim.verify/1"),
  verdict: VERDICT,
  session: orNull(string),
  dialect: string,
  path: string,
  profile: choice(["v2", LEGACY_PROFILE]),
  deep: boolean,
  file: object({ bytes: count }),
  signed_through: orNull(
    object({
      ...HEAD,
      turn: count,
      turns: count,
      end: count,
      line: string,
      rev: count,
      ts: string,
      kid: string,
    }),
  ),
  checkpoints: object({ total: count, valid: count }),
  tail: object({ bytes: count, lines: count, types: { type: "object" } }),
  found: list(list(count)),
  bad_range: orNull(object({ from: count, to: count, turns: list(count) })),
  freshness: choice(["match", "ahead", "none"]),
  log: orNull(string),
  from: orNull(object({ log: string, seq: count, line: string, at: count })),
  erasures: list(object({ at: orNull(string), reason: string, lines: count, log: orNull(string) })),
  keys: list(
    object({
      kid: orNull(string),
      fp: orNull(string),
      owner: orNull(string),
      trusted: boolean,
      rotated_from: orNull(string),
    }),
  ),
  rotations: list(object({ seq: count, from: string, to: string, named: boolean })),
  links: list(object({ seq: count, id: string, log: string })),
  missing: orNull(object({ ...HEAD, ts: string })),
  findings: list(
    object({
      code: string,
      verdict: orNull(VERDICT),
      byte_offset: orNull(count),
      turn: orNull(count),
      message: string,
    }),
  ),
});

export const SESSION_SCHEMAS: Readonly<Record<string, Schema>> = {
  Session: withDialects(of.SESSION),
  SessionPage: of.SESSION_PAGE,
  SessionHead: withDialects(of.SESSION_HEAD),
  EntryKind: of.ENTRY_KIND,
  Role: of.ROLE,
  Part: of.PART,
  Usage: of.USAGE,
  ToolView: of.TOOL_VIEW,
  ResultView: of.RESULT_VIEW,
  NeutralEntry: of.NEUTRAL_ENTRY,
  Entry: of.ENTRY,
  EntryPage: of.ENTRY_PAGE,
  Exchange: outlined.EXCHANGE,
  OutlineMark: outlined.OUTLINE_MARK,
  OutlinePage: outlined.OUTLINE_PAGE,
  ExchangesPage: outlined.EXCHANGES_PAGE,
  Whereabouts: of.WHEREABOUTS,
  ToolCalls: outlined.TOOL_CALLS,
  Thread: of.THREAD,
  ThreadParent: of.THREAD_PARENT,
  SessionThreads: of.SESSION_THREADS,
  Checkpoint: of.CHECKPOINT,
  CheckpointKey: of.CHECKPOINT_KEY,
  CheckpointPage: of.CHECKPOINT_PAGE,
  VerifyReport: describeSchema(
    REPORT,
    "As `verbatim verify --json` prints it: docs/formats/checkpoint.md, Reports",
  ),
  SessionUsage: of.SESSION_USAGE,
  Rewound: object({ to: offset }),
  CountedSums: used.COUNTED_SUMS,
  SessionCosts: used.SESSION_COSTS,
};

/** The shape with the names of this server's dialects; a client may talk to a newer server. */
function withDialects(schema: Schema): Schema {
  const properties = { ...(schema.properties as object), dialect: choice(SERVED_DIALECTS) };
  return { ...schema, properties };
}
