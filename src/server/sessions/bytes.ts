/**
 * Bytes: a range of a session's log, unchanged, and the checkpoints that cover it: everything that
 * a client needs to verify the session itself without trusting this server.
 */

import type { ServerResponse } from "node:http";
import { userPaths } from "../../core/base/node-paths.ts";
import { coveringCheckpoints, type RangeCover } from "../../evidence/verify/covering.ts";
import { SessionWindow } from "../../sessions/list/session-window.ts";
import { toBase64url } from "../../trust/proof/bytes.ts";
import { Trust, transcriptKeys } from "../../trust/trusted-keys/trust.ts";
import { answerBytes, badRequest } from "../http/answer.ts";
import { Query } from "./query.ts";
import type { ServedSession, SessionService } from "./service.ts";
import { sessionHeaders } from "./wire.ts";

export const BYTES_PARAMETERS = ["from", "to"] as const;

/** Complete lines only; fewer than requested when there are fewer. */
export async function answerSessionBytes(
  { host, limits, room }: SessionService,
  { session }: ServedSession,
  url: string,
  response: ServerResponse,
): Promise<void> {
  const query = new Query(url, BYTES_PARAMETERS);
  const { from, to } = stretchOf(query);
  const window = await SessionWindow.open(host, session);
  let bytes: Uint8Array;
  try {
    window.log.checkReached(from);
    bytes = await window.log.bytes(from, Math.min(to, from + limits.bytesMax));
  } finally {
    window.close();
  }
  const headers = sessionHeaders();
  headers.push("Content-Type", "application/octet-stream");
  headers.push("Session-From", String(from), "Session-To", String(from + bytes.length));
  headers.push("Session-End", String(window.log.bytesEnd));
  room.hold(response, bytes.length);
  answerBytes(response, headers, [bytes]);
}

export async function checkpointsPage(
  { host, limits }: SessionService,
  { session }: ServedSession,
  url: string,
): Promise<string> {
  const query = new Query(url, BYTES_PARAMETERS);
  const asked = stretchOf(query);
  const window = await SessionWindow.open(host, session);
  try {
    window.log.checkReached(asked.from);
    const end = window.log.bytesEnd;
    const stretch = { from: asked.from, to: Math.max(asked.from, Math.min(asked.to, end)) };
    const covering = await coveringCheckpoints(host, session, window.log, stretch, limits);
    const keys = await keysOf(covering, session.id);
    const { tornBytes, unfinishedBytes } = window.log;
    return JSON.stringify({ ...stretch, end, tornBytes, unfinishedBytes, ...covering, keys });
  } finally {
    window.close();
  }
}

/** The keys that these checkpoints name, with the trust of the user who runs the server. */
async function keysOf({ genesis, checkpoints }: RangeCover, id: string) {
  const known = transcriptKeys(await Trust.load(userPaths()), id);
  const keys = new Map<string, unknown>();
  for (const { keyId, line } of [...(genesis ? [genesis] : []), ...checkpoints]) {
    const { ts } = JSON.parse(line).payload;
    const { publicKey, owner, refusal } = known.byKid(keyId, ts);
    const text = publicKey && toBase64url(publicKey);
    // The newest checkpoint of a key decides: the key may have been revoked while it was used.
    keys.set(keyId, { keyId, publicKey: text, owner, refusal });
  }
  return [...keys.values()];
}

function stretchOf(query: Query): { from: number; to: number } {
  const from = query.offset("from") ?? 0;
  const to = query.offset("to") ?? Number.MAX_SAFE_INTEGER;
  if (to < from) throw badRequest("to", "is before from");
  return { from, to };
}
