/** What a signing store promises beyond each line: a checkpoint per turn, and spilled files. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { verifySession } from "../../src/signing.ts";
import { refusal } from "../support/refusal.ts";
import { SHAPES, SigningUser, said, turnOf, writtenBy } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

test.each(Object.entries(SHAPES))(
  "every turn ends with a checkpoint, also when nobody waits for its entries (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const store = await user.store({ root: tempDirectory(), ...shape });
    const id = shape.dialect === "homeagent" ? "kitchen/evening" : "hello-1739012630";
    const session = store.session(id);
    await Promise.all(
      [1, 2, 3, 4].flatMap((n) => turnOf(`${n}`)).map((each) => session.append(each)),
    );
    await store.close();
    const { path, sidecarPath } = writtenBy(store, session);
    const text = readFileSync(existsSync(sidecarPath) ? sidecarPath : path, "utf8");
    const lines = text
      .trim()
      .split("\n")
      .filter((line) => line.includes('"sig2"'));
    const payloads = lines.map((line) => JSON.parse(line).payload);
    const turns = payloads.filter(({ kind }) => kind === "turn").map(({ turn }) => turn);
    assert.equal(payloads[0].kind, "genesis", "it covers the first entry, which goes alone");
    assert.deepEqual(turns, [1, 2, 3]);
    assert.equal((await verifySession(id, { root: store.root })).verdict, "verified");
  },
);

test("a spilled file that is altered or gone makes its session tampered, signed as its line is", async () => {
  const user = new SigningUser();
  const long = "x".repeat(9 * 1024 * 1024);
  const written = await user.write({ dialect: "entire" }, [said("short"), said(long)]);
  const { root, id } = written.target;
  const verdict = async () => {
    const { verdict, findings } = await verifySession(id, { root });
    return [verdict, ...findings.filter((each) => each.verdict).map(({ code }) => code)];
  };
  assert.deepEqual(await verdict(), ["verified"]);

  const name = readdirSync(dirname(written.path)).find((each) => each.endsWith(".spill"));
  const path = join(dirname(written.path), name ?? "");
  const bytes = readFileSync(path);
  bytes[100] = 0x79;
  writeFileSync(path, bytes);
  assert.deepEqual(await verdict(), ["tampered", "SPILL_CHANGED"]);
  appendFileSync(path, "x");
  assert.deepEqual(await verdict(), ["tampered", "SPILL_CHANGED"]);
  rmSync(path);
  assert.deepEqual(await verdict(), ["tampered", "SPILL_CHANGED"]);
});

test("a session whose spilled file was altered is not signed on", async () => {
  const user = new SigningUser();
  const long = "x".repeat(9 * 1024 * 1024);
  const { path, target } = await user.write({ dialect: "entire" }, [said("short"), said(long)]);
  const name = readdirSync(dirname(path)).find((each) => each.endsWith(".spill"));
  const spill = join(dirname(path), name ?? "");
  const honest = readFileSync(spill);
  const goOn = async () => {
    const store = await user.store({ dialect: "entire", root: target.root });
    try {
      await store.session(target.id).append(said("on it goes"));
    } finally {
      await store.close();
    }
  };
  const bytes = Buffer.from(honest);
  bytes[100] = 0x79;
  writeFileSync(spill, bytes);
  const log = readFileSync(path);
  const { details } = await refusal(goOn(), "CHECKPOINT_MISMATCH");
  assert.equal(details.verdict, "tampered");
  assert.ok(readFileSync(path).equals(log), "and nothing is written");

  writeFileSync(spill, honest);
  await goOn();
  assert.equal((await verifySession(target.id, { root: target.root })).verdict, "verified");
});
