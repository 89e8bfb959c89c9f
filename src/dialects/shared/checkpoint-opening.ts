/** Checkpoint opening: the first fields of a checkpoint line, as text that the signer continues. */

import { asciiJson } from "../../trust/proof/checkpoint.ts";
import type { CheckpointOpening } from "../../trust/signer/counted-turns.ts";
import type { WriterFacts } from "../facets/writing.ts";

/** `id`: the line's own, in a dialect whose lines have ids. */
export function openingWith(fields: object, id: string | null = null): CheckpointOpening {
  return { text: `${asciiJson(fields).slice(0, -1)},`, id };
}

/** For checkpoints in a sidecar. `name`: the dialect's; a signed session's name begins with it. */
export function sidecarOpening(name: string): (facts: WriterFacts) => CheckpointOpening {
  return ({ nowMs, id }) =>
    openingWith({ timestamp: new Date(nowMs).toISOString(), thread_id: `${name}:${id}` });
}
