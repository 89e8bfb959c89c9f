/**
 * A signer that is killed with -9 leaves at most one turn unsigned, in every dialect and however the
 * turns were recorded. The turns are messages only: no entry marks where a turn begins.
 */

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { dialectNamed } from "../../src/dialects/all.ts";
import { writingOf } from "../../src/dialects/dialect.ts";
import { hasSidecar } from "../../src/trust/proof/envelopes.ts";
import { type Child, startChild, startCompiled } from "../support/child.ts";
import { isTried } from "../support/seed.ts";
import {
  ALL_SHAPES,
  answered,
  idFor,
  type SignedShape,
  SigningUser,
  said,
  type Written,
} from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import type { TurnsOrder } from "./turns-child.ts";

const TURNS = 10;
/** A question and its answer. */
const LINES_PER_TURN = 2;
const PROGRAM = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

const WAYS = ["append", "capture", "record"] as const;
type Way = (typeof WAYS)[number];

/** A third of all pairs. */
const TRIED = Object.keys(ALL_SHAPES)
  .flatMap((name) => WAYS.map((way) => [name, way] as const))
  .filter((_, nth) => isTried(nth + Math.floor(nth / WAYS.length), WAYS.length));

test.for(TRIED)(
  "killed after ten turns of messages, at most one turn is unsigned (%s, by %s)",
  async ([name, way]) => {
    const user = new SigningUser();
    const shape = ALL_SHAPES[name] as SignedShape;
    const root = tempDirectory();
    const child = way === "record" ? recording(shape, root) : appending(shape, root, way);
    const acks = way === "record" ? TURNS * LINES_PER_TURN : TURNS;
    for (let count = 0; count < acks; ) {
      const line = await child.line();
      assert.ok(line !== null, "it ended before it was killed");
      if (/^ack|^\{"offset"/.test(line)) count++;
    }
    await child.kill();

    const report = await user.verify(writtenAt(shape, root));
    assert.ok(["verified", "incomplete"].includes(report.verdict), report.verdict);
    assert.ok(report.tail.lines <= LINES_PER_TURN, `${report.tail.lines} lines are unsigned`);
    assert.equal(report.signed_through?.turn, TURNS - 1);
  },
);

function writtenAt({ dialect }: SignedShape, root: string): Written {
  const id = idFor({ dialect });
  const logId = dialectNamed(dialect).naming.logPath(id).join("/");
  const path = `${root}/${logId}`;
  return { target: { dialect, root, logId, id }, path, sidecarPath: `${path}.checkpoints` };
}

function appending(shape: SignedShape, root: string, way: Exclude<Way, "record">): Child {
  const order: TurnsOrder = { store: { ...shape, root }, id: idFor(shape), turns: TURNS, way };
  return startChild("test/signing/turns-child.ts", JSON.stringify(order));
}

/** `verbatim record --sign` with the same turns on stdin, which stays open. */
function recording({ dialect, envelope }: SignedShape, root: string, sign = "turn"): Child {
  const id = idFor({ dialect });
  const [agent = "", session = ""] = dialect === "homeagent" ? id.split("/") : ["", id];
  const own: Partial<Record<string, string[]>> = {
    homeagent: ["--agent", agent],
    rye: ["--directive", "hello", "--envelope", envelope ?? "flat"],
  };
  const args = ["record", "--dialect", dialect, "--root", root, "--session", session];
  const child = startCompiled(PROGRAM, ...args, "--sign", sign, "--ack", ...(own[dialect] ?? []));
  for (let n = 0; n < TURNS; n++) {
    for (const entry of [said(`question ${n}`), answered(`answer ${n}`)]) {
      const by = { agent: "hello", model: "m", cwd: root, version: "1" };
      const facts = { id, nowMs: Date.now(), newId: () => crypto.randomUUID(), ...by };
      const natives = writingOf(dialectNamed(dialect)).express(entry, facts);
      for (const native of natives) child.say(JSON.stringify(native));
    }
  }
  return child;
}

test.for(Object.keys(ALL_SHAPES).filter((_, nth) => isTried(nth, 3)))(
  "every entry piped to record --sign append has its own checkpoint (%s)",
  async (name) => {
    const user = new SigningUser();
    const shape = ALL_SHAPES[name] as SignedShape;
    const root = tempDirectory();
    const child = recording(shape, root, "append");
    const acks = TURNS * LINES_PER_TURN;
    for (let count = 0; count < acks; ) {
      const line = await child.line();
      assert.ok(line !== null, "it ended before it was killed");
      if (line.startsWith('{"offset"')) count++;
    }
    await child.kill();

    // A sidecar also has the genesis; record begins a rye thread with its own line.
    const more = hasSidecar(shape.dialect) || shape.dialect === "rye" ? 1 : 0;
    const { verdict, checkpoints } = await user.verify(writtenAt(shape, root));
    assert.deepEqual([verdict, checkpoints.total], ["verified", acks + more]);
  },
);
