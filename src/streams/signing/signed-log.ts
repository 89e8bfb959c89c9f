/** Signed log: a stream's file, as signing and verifying name it. */

import { asciiJson } from "../../proof/checkpoint.ts";
import { STREAMS } from "../../proof/envelopes.ts";
import type { SignableLog } from "../../signing/session-log.ts";
import type { StreamState } from "../commit/stream-state.ts";

export interface SignedStreamLog extends SignableLog {
  readonly dialect: typeof STREAMS;
  /** The stream's path. */
  readonly id: string;
}

/** `root`: the path of the data directory. */
export function signedLogOf(
  root: string,
  { path, file, isJson }: Pick<StreamState, "path" | "file" | "isJson">,
): SignedStreamLog {
  const content = isJson ? "messages" : "bytes";
  return { dialect: STREAMS, content, root, logId: `logs/${file}`, id: path };
}

/** The first fields of a checkpoint line in a stream's sidecar. */
export function checkpointOpening(nowMs: number, path: string): string {
  const fields = { timestamp: new Date(nowMs).toISOString(), thread_id: `streams:${path}` };
  return `${asciiJson(fields).slice(0, -1)},`;
}
