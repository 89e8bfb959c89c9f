/** Witness: the routes of a witness (witness/witness.ts), which need no token. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { VerbatimError } from "../base/errors.ts";
import { SUBMISSION_BYTES_MAX, type Witness } from "../witness/witness.ts";
import { answerText, methodNotAllowed, newHeaders } from "./http/answer.ts";
import { readBody } from "./http/body.ts";

export const WITNESS_ROOT = "/witness/";
const ADD = `${WITNESS_ROOT}add-checkpoint`;
const NEWEST = /^\/witness\/([0-9a-f]{64})\/checkpoint$/;

/** Whether the path is one of its routes, and was answered. */
export async function handleWitness(
  witness: Witness,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
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
