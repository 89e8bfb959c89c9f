/**
 * Checkpoints that are signed before they are due (trust/signer/signed-log.ts, SL3): whatever
 * happens in between, they are written in their proper place or not at all.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { test } from "vitest";
import { runs } from "../support/seed.ts";
import { SHAPES, type SignedShape, SigningUser, writtenBy } from "../support/signing-user.ts";

const TYPES = ["step_start", "assistant_text", "step_finish", "user_message", "thread_complete"];
const anyEvents = fc.array(
  fc.record({ type: fc.constantFrom(...TYPES), isAwaited: fc.boolean() }),
  { minLength: 1, maxLength: 14 },
);

test("for events in any order, a turn that has ended is signed before the next begins", async () => {
  const user = new SigningUser();
  let threads = 0;
  const root = (await user.writeTurns(SHAPES["rye-flat"] as SignedShape, 1)).target.root;
  await fc.assert(
    fc.asyncProperty(anyEvents, fc.constantFrom("disk", "os"), async (events, durability) => {
      const store = await user.store({ dialect: "rye", root, durability });
      const session = store.session(`early-${1739012630 + threads++}`);
      const appended: Promise<unknown>[] = [];
      for (const { type, isAwaited } of events) {
        appended.push(session.appendNative({ type }));
        if (isAwaited) await Promise.all(appended);
      }
      await Promise.all(appended);
      await store.close();

      const written = writtenBy(store, session);
      const { verdict, findings } = await user.verify(written);
      assert.equal(verdict, "verified", JSON.stringify(findings));
      assert.deepEqual(misplaced(readFileSync(written.path, "utf8")), []);
    }),
    { numRuns: runs(60) },
  );
});

/**
 * Misplaced lines: a turn's checkpoint in the wrong place, or a turn that begins without one before
 * it.
 */
function misplaced(log: string): string[] {
  const faults: string[] = [];
  let phase: "idle" | "called" | "worked" = "idle";
  let before = "";
  for (const line of log.trimEnd().split("\n")) {
    const { type, payload } = JSON.parse(line);
    const kind = type === "checkpoint" ? payload.kind : type;
    const isCall = kind === "step_start";
    const opens = isCall ? phase !== "idle" : kind === "user_message" && phase === "worked";
    if (before === "turn" && !opens) faults.push(`a turn's end, then ${kind}`);
    const isSigned = ["turn", "batch", "genesis", "final", "recovery"].includes(before);
    if (opens && !isSigned) faults.push("a turn, the last unsigned");
    if (opens || kind === "final") phase = "idle";
    if (isCall) phase = "called";
    if (["assistant_text", "step_finish"].includes(kind)) phase = "worked";
    before = kind;
  }
  return faults;
}
