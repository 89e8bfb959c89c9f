/** Rotated and linked sessions, read by functions other than `verify`. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { nodeSurroundings } from "../../src/core/base/node-surroundings.ts";
import { resume } from "../../src/doors/resume.ts";
import { openVerified } from "../../src/doors/signing.ts";
import { examineStore } from "../../src/evidence/doctor/examine.ts";
import { linkSession } from "../../src/resume/fork/fork.ts";
import { ALL_SHAPES, type SignedShape, SigningUser, turnOf } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { hasCryptography, runPython } from "./python.ts";

const RYE: Readonly<Record<string, SignedShape>> = {
  "rye-flat": { dialect: "rye", envelope: "flat" },
  "rye-payload": { dialect: "rye", envelope: "payload" },
};

/** Three turns by three keys, then a link to another session. `retired`: the first two keys. */
async function rotatedAndLinked(shape: SignedShape) {
  const writer = new SigningUser();
  let written = await writer.write(shape, turnOf("turn 1"));
  const { root, id } = written.target;
  const retired: string[] = [];
  for (const turn of ["turn 2", "turn 3"]) {
    retired.push((await writer.rotate()).retired.kid);
    written = await writer.write(shape, turnOf(turn), { root });
  }
  const store = await writer.store({ ...shape, root });
  const to = { id: "hello-1739012999", log: "0".repeat(32) };
  assert.equal(await linkSession(store, id, to, null), null);
  await store.close();
  const { verdict, rotations, links } = await writer.verify(written);
  assert.deepEqual([verdict, rotations.length, links.length], ["verified", 2, 1]);
  return { writer, written, retired };
}

test.each(Object.entries(ALL_SHAPES))(
  "doctor has no finding for a session that was rotated and linked (%s)",
  async (_name, shape) => {
    const { writer, written } = await rotatedAndLinked(shape);
    const { dialect, root, id } = written.target;
    const doctor = { host: nodeHost, surroundings: nodeSurroundings, nowMs: Date.now };
    const seen: (string | null)[] = [];
    for await (const step of examineStore(doctor, { dialect, root })) {
      assert.ok("session" in step, `doctor finds ${JSON.stringify(step)}`);
      seen.push(step.session.id);
    }
    assert.deepEqual([seen, writer.warnings], [[id], []]);
  },
);

test.each(Object.entries(ALL_SHAPES))(
  "a session that was rotated and linked is opened verified, and resumed, with every turn (%s)",
  async (_name, shape) => {
    const { written } = await rotatedAndLinked(shape);
    const { root, id } = written.target;
    const texts: string[] = [];
    const session = await openVerified(id, { root });
    for await (const { verified, kind, parts } of session.entries()) {
      assert.ok(verified);
      if (kind !== "message") continue;
      for (const part of parts) if (part.type === "text") texts.push(part.text);
    }
    session.close();
    const all = [1, 2, 3].flatMap((n) => [`turn ${n}`, `turn ${n}: done`]);
    assert.deepEqual(texts, all);
    const { messages, report } = await resume(id, { for: "openai-chat", root, prompt: null });
    assert.equal(report.verdict, "verified");
    assert.deepEqual(
      messages.map(({ content }) => content),
      all,
    );
  },
);

test.skipIf(!hasCryptography).each(Object.entries(RYE))(
  "a verifier written from the seed accepts a rotated thread as far as its key signed (%s)",
  async (_name, shape) => {
    const { writer, written, retired } = await rotatedAndLinked(shape);
    const { keyDirectory } = writer.places;
    const old = join(keyDirectory, "retired", retired[0] ?? "", "public_key.pem");
    const text = readFileSync(written.path, "utf8");
    const rotate = text.split("\n").find((line) => line.includes('"kind":"rotate"')) ?? "";
    // It knows one key, which signed the thread up to the hand-over, its `rotate` included.
    const upTo = join(tempDirectory(), "transcript.jsonl");
    writeFileSync(upTo, text.slice(0, text.indexOf(rotate) + rotate.length + 1));
    const [begun, whole] = runPython("seed_verify.py", [old], [upTo, written.path]) as [
      { valid: boolean; checkpoints: number },
      { valid: boolean; error: string },
    ];
    assert.equal(begun.valid, true);
    assert.ok(begun.checkpoints >= 2);
    // After it the hashes are still correct, but the signatures are not by the key that it knows.
    assert.deepEqual([whole.valid, whole.error], [false, "signature"]);
    const { checkpoints } = await writer.verify(written);
    const pems = [
      ...retired.map((kid) => join(keyDirectory, "retired", kid, "public_key.pem")),
      join(keyDirectory, "public_key.pem"),
    ];
    const answers = runPython("seed_verify.py", pems, [written.path]);
    assert.deepEqual(answers, [{ valid: true, checkpoints: checkpoints.total }]);
  },
);
