/** Witness: the mount of a witness (evidence/witness/witness.ts), which needs no token. */

import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import { SUBMISSION_BYTES_MAX, Witness } from "../../evidence/witness/witness.ts";
import type { ServerContext } from "../context.ts";
import { answerText, methodNotAllowed, newHeaders } from "../http/answer.ts";
import { readBody } from "../http/body.ts";
import type { MountRequest, OpenMount } from "../router/mount.ts";
import { WITNESS_ROOT } from "../router/paths.ts";

const ADD = `${WITNESS_ROOT}/add-checkpoint`;
const NEWEST = /^\/witness\/([0-9a-f]{64})\/checkpoint$/;

export async function witnessMount(context: ServerContext, listPath: string): Promise<OpenMount> {
  const { dataDirectory } = context.options;
  const { nowMs } = context.time;
  const places = userPaths();
  const witness = await Witness.open({ host: nodeHost, dataDirectory, listPath, places, nowMs });
  return {
    handle: (asked) => handle(asked, witness),
    parts: { witnessKey: witness.verifierKey },
  };
}

async function handle(
  { request, response, path }: MountRequest,
  witness: Witness,
): Promise<boolean> {
  const hash = NEWEST.exec(path)?.[1];
  if (path !== ADD && hash === undefined) return false;
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store");
  const method = hash === undefined ? "POST" : "GET";
  if (request.method !== method) throw methodNotAllowed(`${method}, OPTIONS`);
  if (hash === undefined) {
    const body = await readBody(request, SUBMISSION_BYTES_MAX);
    const { status, type, text } = await witness.add(body).catch(failed);
    answerText(response, status, type, text, headers);
  } else {
    const note = await witness.newest(hash).catch(failed);
    const status = note === null ? 404 : 200;
    answerText(response, status, "text/plain; charset=utf-8", note ?? "no checkpoint\n", headers);
  }
  return true;
}

/** Anyone may ask, so that paths and reasons are shown to the operator only. */
function failed(cause: unknown): never {
  if (cause instanceof VerbatimError && cause.code === "OVERLOADED") throw cause;
  throw new Error("the witness failed", { cause });
}
