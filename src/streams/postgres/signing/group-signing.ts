/** Group signing: what a server that signs adds to the statement of a group (schema.ts). */

import type { StreamChange } from "../../commit/batch.ts";
import type { GroupBatch } from "../group.ts";
import { pathKey, sidOf } from "../stream-row.ts";
import type { AppendedMacs } from "./appended-macs.ts";

/** The arguments of `sign_group` after the first two; null if the group has nothing for it. */
export function signingValues(
  batch: GroupBatch,
  units: ReadonlyMap<string, number>,
  macs: AppendedMacs,
): readonly string[] | null {
  const checkpoints = batch.checkpoints.map(({ path, sid, end, bytes }) => ({
    unit: units.get(path),
    sid,
    end,
    lines: Buffer.from(bytes).toString("latin1"), // They are ASCII.
  }));
  const signed = [...batch.signed].map(([path, done]) => ({ unit: units.get(path), ...done }));
  const ended = batch.ended.map(({ path, sid }) => ({
    unit: units.get(path),
    sid,
    upTo: Number.MAX_SAFE_INTEGER,
  }));
  const closed = new Set<string>();
  for (const op of batch.ops) {
    if ((op.op === "append" || op.op === "create") && op.close) closed.add(op.path);
  }
  const unsigned: unknown[] = [];
  for (const [path, change] of batch.changes) {
    const { state, from: start, bytes } = change;
    if (!isToBeSigned(change, closed.has(path))) continue;
    const range = { sid: sidOf(state), start, end: state.end };
    const mac = `\\x${macs.macOf(range, bytes).toString("hex")}`;
    unsigned.push({ unit: units.get(path), ...range, key: pathKey(path), mac });
  }
  const values = [checkpoints, [...signed, ...ended], unsigned];
  return values.every(({ length }) => length === 0) ? null : values.map((v) => JSON.stringify(v));
}

/** It got bytes, was closed, or is a new fork; a stream without a byte has nothing to sign. */
function isToBeSigned({ state, pointers, dropsContents }: StreamChange, isClosed: boolean) {
  if (state.end === 0 || state.status === "deleted") return false;
  return pointers.length > 0 || isClosed || (dropsContents && state.base > 0);
}
