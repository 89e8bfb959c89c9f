/** The dialect in the header of a proof or a copy cannot be changed to another. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { DIALECT_NAMES } from "../../src/dialects/registry.ts";
import { withSignedStream } from "../../src/evidence/verify/verify-directory.ts";
import { loadSigner, type Signer } from "../../src/trust/keys/keys.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { readRecord, spellRecord } from "../../src/trust/proof/disclosure/records.ts";
import { statementMessage } from "../../src/trust/proof/disclosure/statement.ts";
import { disclose, judgeBytes, keysOf } from "../support/disclosing.ts";
import { judge, linesIn, prove, withEnd } from "../support/proving.ts";
import { pythonVerdicts } from "../support/python-page.ts";
import { refusal } from "../support/refusal.ts";
import { JSON_STREAM, message, SignedStreams } from "../support/signed-streams.ts";
import { ALL_SHAPES, SigningUser, turnOf } from "../support/signing-user.ts";

const NAMES = [...DIALECT_NAMES, "guard", "codex", "stream", "x"];
const TURNS = ["one", "two", "three"].flatMap(turnOf);
const linesOf = (bytes: Uint8Array) =>
  Buffer.from(bytes).toString("latin1").split("\n").slice(0, -1);

function relabelled(lines: readonly string[], from: string, to: string): string[] {
  const [header = "", ...rest] = lines;
  assert.ok(header.includes(`"dialect":"${from}"`));
  return [header.replace(`"dialect":"${from}"`, `"dialect":"${to}"`), ...rest];
}

/** The copy of another dialect, with a statement that fits it, by the same key. */
async function relabelledCopy(copy: Buffer, from: string, to: string, signer: Signer) {
  const lines = relabelled(linesOf(copy), from, to);
  const last = readRecord(Buffer.from(lines.pop() ?? "", "latin1"));
  assert.ok(last?.is === "statement");
  const body = Buffer.from(lines.map((line) => `${line}\n`).join(""), "latin1");
  const sha256 = Buffer.from(nodeCrypto.sha256(body)).toString("hex");
  const facts = { ...last.statement.facts, bytes: body.length, sha256 };
  const sig = await signer.sign(statementMessage(facts));
  const statement = spellRecord({ is: "statement", statement: { facts, sig } });
  return Buffer.concat([body, Buffer.from(`${statement}\n`)]);
}

/** Every proof of one line, and the copy, under every other name. */
async function refusesOthers(
  user: SigningUser,
  target: Parameters<typeof prove>[1],
  numbers: readonly number[],
): Promise<void> {
  const { dialect } = target;
  const [keys, signer] = [keysOf(user), await loadSigner(nodeHost, user.places)];
  const { bytes: copy } = await disclose(user, target, { finder: () => [] });
  const proofs: Uint8Array[] = [];
  for (const number of numbers) proofs.push((await prove(user, target, [number])).bytes);
  const [forged, copies]: [Buffer[], Buffer[]] = [[], []];
  for (const name of NAMES.filter((each) => each !== dialect)) {
    copies.push(await relabelledCopy(copy, dialect, name, signer));
    for (const proof of proofs) {
      forged.push(withEnd(relabelled(linesOf(proof).slice(0, -1), dialect, name)));
    }
  }
  for (const bytes of forged) expect(judge(keys, bytes).verdict).toBe("tampered");
  for (const bytes of copies) expect(judgeBytes(keys, bytes).verdict).toBe("tampered");
  const said = pythonVerdicts([signer.publicKey], [...proofs, copy, ...forged, ...copies]);
  const honest = new Set(said.slice(0, proofs.length + 1));
  expect([honest, new Set(said.slice(proofs.length + 1))]).toEqual([
    new Set(["verified"]),
    new Set(["tampered"]),
  ]);
}

test.each(Object.entries(ALL_SHAPES))("of sessions (%s)", async (_name, shape) => {
  const user = new SigningUser();
  const { target, path } = await user.write(shape, TURNS);
  await refusesOthers(
    user,
    target,
    linesIn(readFileSync(path)).map(({ number }) => number),
  );
});

test("of streams", async () => {
  const streams = new SignedStreams();
  for (const n of [0, 1, 2]) {
    const store = await streams.open(); // Closing it signs.
    if (n === 0) await store.create("/kitchen", JSON_STREAM);
    for (const text of ["one", "two", "three"]) await store.append("/kitchen", message({ text }));
    await store.close();
  }
  await withSignedStream(nodeHost, streams.directory, "/kitchen", async (log) => {
    await refusesOthers(streams.user, log, [1, 5, 9]);
  });
});

test("no thread of rye has a colon in its id, so none is named like another layout's session", async () => {
  const user = new SigningUser();
  const { details } = await refusal(
    user.write({ dialect: "rye", envelope: "payload" }, TURNS, { id: "homeagent:a-1" }),
    "BAD_ID",
  );
  expect(details.id).toBe("homeagent:a-1");
});
