/** Void checkpoints as an attacker would use them: what is not a signer's own is tampering. */

import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { SessionVerifier } from "../../src/evidence/verify/session-verifier.ts";
import { Store, type StoreOptions } from "../../src/sessions/store/store.ts";
import type { VerifyReport } from "../../src/trust/judge/report.ts";
import { isTried } from "../support/seed.ts";
import {
  idFor,
  SHAPES,
  type SignedShape,
  SigningUser,
  turnIn,
  type Written,
  writtenBy,
} from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { WatchedFiles } from "../support/watched-files.ts";

const INSIDE = ["rye-flat", "rye-payload", "entire"].map(
  (name) => [name, SHAPES[name] as SignedShape] as const,
);
/** Says nothing of a session, so it may be in any. */
const FOREIGN = '{"foreign":true}\n';

/** Writes turns; before the write of the `nth` checkpoint another program appends a line. */
async function writtenNextTo(shape: SignedShape, nth: number): Promise<Written> {
  const disk = new WatchedFiles();
  const root = tempDirectory();
  const options = { agent: "hello", root, sign: "append", durability: "os", ...shape };
  const store = new Store(disk.host, options as StoreOptions);
  const session = store.session(idFor(shape));
  let writes = 0;
  disk.before = ({ call, name }) => {
    // Lines and their checkpoint are two writes.
    const isDue = call === "write" && session.path.endsWith(name) && ++writes === 2 * nth;
    if (isDue) writeFileSync(session.path, FOREIGN, { flag: "a" });
    return undefined;
  };
  for (const entry of turnIn(session, "one")) await session.append(entry);
  for (const entry of turnIn(session, "two")) await session.append(entry);
  await store.close();
  return writtenBy(store, session);
}

/** The lines of a log, with LFs. */
function linesOf({ path }: Written): string[] {
  return readFileSync(path, "utf8").match(/.*\n/g) ?? [];
}

async function verdictOn(
  user: SigningUser,
  written: Written,
  lines: readonly string[],
  isPinned = false,
): Promise<VerifyReport["verdict"]> {
  const before = readFileSync(written.path);
  writeFileSync(written.path, lines.join(""));
  const { verdict } = await user.verify(written, { isPinned });
  writeFileSync(written.path, before);
  return verdict;
}

const isCheckpoint = (line: string) => line.includes('"event_type":"checkpoint"');

test.for(INSIDE)(
  "a void checkpoint that was altered, moved, or is not stated as found, is tampering (%s)",
  async ([, shape]) => {
    const user = new SigningUser();
    for (const nth of [1, 2]) {
      const written = await writtenNextTo(shape, nth);
      const lines = linesOf(written);
      assert.equal((await user.verify(written)).verdict, "incomplete");
      const at = lines.indexOf(FOREIGN) + 1;
      const voided = lines[at] ?? "";
      assert.ok(isCheckpoint(voided) && isCheckpoint(lines[at + 1] ?? ""), lines.join(""));
      const verdict = (changed: readonly string[]) => verdictOn(user, written, changed);

      for (let bit = 0; bit < voided.length * 8; bit++) {
        if (!isTried(bit, 64)) continue;
        const flipped = Buffer.from(voided);
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        assert.equal(
          await verdict(lines.with(at, flipped.toString("latin1"))),
          "tampered",
          `${bit}`,
        );
      }
      assert.equal(await verdict(lines.toSpliced(at, 1)), "tampered", "removed");
      assert.equal(await verdict(lines.toSpliced(at, 0, voided)), "tampered", "doubled");
      assert.equal(await verdict(lines.toSpliced(at, 0, FOREIGN)), "tampered", "moved");
      assert.equal(await verdict([...lines, voided]), "tampered", "at the end");
      assert.equal(await verdict(lines.with(at - 1, '{"foreign":null}\n')), "tampered", "altered");

      // Nothing that counts follows: as if the signer was killed there.
      const cut = lines.slice(0, at + 1);
      assert.equal(await verdict(cut), "incomplete");
      assert.equal(await verdict(cut.with(at - 2, `${cut[at - 2]?.trim()} \n`)), "tampered");
    }
  },
);

test.for(INSIDE)(
  "a line put before a checkpoint is tampering, unless it is the last and not pinned (%s)",
  async ([, shape]) => {
    const user = new SigningUser();
    const written = await user.writeTurns(shape, 3);
    const lines = linesOf(written);
    const places = lines.flatMap((line, n) => (isCheckpoint(line) ? [n] : []));
    for (const at of places) {
      const changed = lines.toSpliced(at, 0, FOREIGN);
      const expected = at === places.at(-1) ? "incomplete" : "tampered";
      assert.equal(await verdictOn(user, written, changed), expected, `line ${at}`);
      assert.equal(await verdictOn(user, written, changed, true), "tampered", `pinned, line ${at}`);
    }
  },
);

test("a key that the reader does not trust makes no checkpoint void", async () => {
  const user = new SigningUser();
  const written = await writtenNextTo(SHAPES.entire as SignedShape, 2);
  assert.equal((await user.verify(written)).verdict, "incomplete");
  assert.equal((await new SigningUser().verify(written)).verdict, "tampered");
});

test("a void checkpoint that thread.json names is tampering", async () => {
  const user = new SigningUser();
  const written = await user.writeTurns(SHAPES["rye-flat"] as SignedShape, 3);
  const lines = linesOf(written);
  const meta = readFileSync(join(dirname(written.path), "thread.json"), "utf8");
  const { seq } = (JSON.parse(meta) as { head: { seq: number } }).head;
  const at = lines.findIndex((line) => isCheckpoint(line) && line.includes(`"seq":${seq},`));
  const named = lines[at] ?? assert.fail();
  writeFileSync(written.path, [...lines.slice(0, at), FOREIGN, named].join(""));
  const { root } = written.target;
  rmSync(user.places.stateDirectory, { recursive: true }); // No head is remembered.
  const where = { cwd: root, root };
  const verifier = await SessionVerifier.open(nodeHost, { where, onWarning: () => {} });
  const { verdict, findings } = await verifier.verify(written.target);
  assert.equal(verdict, "tampered", JSON.stringify(findings));
});
