/**
 * docs/verify-proof.py gives the same verdicts as `verify`. Needs python3 (Debian: `apt install
 * python3`), and nothing else.
 */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { proveCopy } from "../../src/evidence/prove/prove.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { type KeyAnswer, publicKeyPem } from "../../src/trust/proof/ed25519-keys.ts";
import { testKey } from "../signing/json-key.ts";
import { disclose, judgeBytes, keysOf, SECRET } from "../support/disclosing.ts";
import { docsPage } from "../support/docs-page.ts";
import { judge, linesIn, prove, withEnd } from "../support/proving.ts";
import { PYTHON_PAGE, python, pythonVerdicts } from "../support/python-page.ts";
import { isTried, seed } from "../support/seed.ts";
import { SHAPES, SigningUser, turnOf } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** Proofs of a session with a past, and altered ones. */
async function proofsOf(name: string, user: SigningUser): Promise<Buffer[]> {
  const shape = SHAPES[name] ?? { dialect: "rye" };
  const written = await user.write(shape, ["one", SECRET].flatMap(turnOf));
  const { target, path } = written;
  await user.rotate();
  appendFileSync(path, `${linesIn(readFileSync(path)).at(-1)?.text}\n`);
  await user.write(shape, turnOf("three"), { root: target.root });
  const numbers = linesIn(readFileSync(path)).map(({ number }) => number);
  const proofs: Buffer[] = [];
  for (const number of numbers)
    proofs.push(Buffer.from((await prove(user, target, [number])).bytes));
  const more = { context: 3, consistency: [1, 2] as const };
  proofs.push(Buffer.from((await prove(user, target, [numbers.at(-1) ?? 0], more)).bytes));
  const copy = join(tempDirectory(), "a.vbd");
  writeFileSync(copy, (await disclose(user, target)).bytes);
  const asked = { entries: [numbers[1] ?? 0], context: 9, consistency: null };
  const how = { keys: keysOf(user), signer: null, nowMs: () => 1.8e12 };
  proofs.push(Buffer.from((await proveCopy(nodeHost, copy, asked, how)).bytes));
  return proofs;
}

function* altered(proof: Buffer, others: readonly Buffer[]): Generator<Buffer> {
  const linesOf = (bytes: Buffer) => bytes.toString("latin1").split("\n").slice(0, -2);
  const lines = linesOf(proof);
  for (let at = 0; at < proof.length; at++) {
    if (!isTried(at, 200)) continue;
    const bytes = Buffer.from(proof);
    bytes[at] = (bytes[at] as number) ^ (1 << ((at + seed) % 8));
    yield bytes;
    yield withEnd(linesOf(bytes));
  }
  for (const n of lines.keys()) {
    const [before, two, after] = [lines.slice(0, n), lines.slice(n, n + 2), lines.slice(n + 2)];
    yield withEnd([...before, ...after]);
    yield withEnd([...before, ...two, ...two, ...after]);
    yield withEnd([...before, ...two.slice(1), ...after]);
    const other = linesOf(others[(n + seed) % others.length] ?? proof);
    for (const m of other.keys()) {
      if (isTried(m + n, 24)) yield withEnd([...before, ...other.slice(m, m + 2), ...after]);
    }
  }
}

test.each(Object.keys(SHAPES))("the page of Python agrees with verify (%s)", async (name) => {
  const user = new SigningUser();
  const first = await loadSigner(nodeHost, user.places);
  const proofs = await proofsOf(name, user);
  const all = proofs.flatMap((proof, n) => {
    return isTried(n, 3) ? [proof, ...altered(proof, proofs)] : [proof];
  });
  // A reader who has the first key only.
  const reader = new SigningUser();
  await reader.trusts(first.publicKey);
  const ours = all.map((bytes) => judge(keysOf(reader), bytes).verdict);
  expect(pythonVerdicts([first.publicKey], all)).toEqual(ours);
  const seen = new Set(ours);
  for (const verdict of ["verified", "incomplete", "tampered"])
    assert.ok(seen.has(verdict as never), verdict);
  const stranger = proofs.map((bytes) => judge(keysOf(new SigningUser()), bytes).verdict);
  expect(pythonVerdicts([], proofs)).toEqual(stranger);
  expect(new Set(stranger)).toEqual(new Set(["untrusted"]));
});

test.each(Object.keys(SHAPES))("it agrees on disclosed copies (%s)", async (name) => {
  const user = new SigningUser();
  const shape = SHAPES[name] ?? { dialect: "rye" };
  const { target } = await user.write(shape, ["one", SECRET, "three"].flatMap(turnOf));
  const first = await loadSigner(nodeHost, user.places);
  await user.rotate();
  await user.write(shape, turnOf("four"), { root: target.root });
  const copies = [
    (await disclose(user, target, { hasMasks: true, entries: [1] })).bytes,
    (await disclose(user, target, { finder: () => [] })).bytes,
  ];
  const all = copies.flatMap((copy) => {
    const lines = copy.toString("latin1").split("\n").slice(0, -1);
    const joined = (some: readonly string[]) => Buffer.from(`${some.join("\n")}\n`, "latin1");
    const flipped = Array.from({ length: copy.length }, (_, at) => at)
      .filter((at) => isTried(at, 120))
      .map((at) => {
        const bytes = Buffer.from(copy);
        bytes[at] = (bytes[at] as number) ^ (1 << ((at + seed) % 8));
        return bytes;
      });
    const moved = lines.map((_, n) => joined([...lines.slice(0, n), ...lines.slice(n + 2)]));
    return [copy, ...flipped, ...moved];
  });
  const reader = new SigningUser();
  await reader.trusts(first.publicKey);
  const ours = all.map((bytes) => judgeBytes(keysOf(reader), bytes).verdict);
  expect(pythonVerdicts([first.publicKey], all)).toEqual(ours);
  expect(ours.filter((verdict) => verdict === "verified")).toHaveLength(2);
  expect(pythonVerdicts([], copies)).toEqual(["untrusted", "untrusted"]);
});

test("it is run by hand with a file and a key", () => {
  const directory = tempDirectory();
  const [proof, key] = [join(directory, "a.vbp"), join(directory, "key.pem")];
  const example = docsPage("formats/proof").block("jsonl proof-rye");
  const answer: KeyAnswer = testKey(7).judge().keys.byFp(testKey(7).signer.fp);
  writeFileSync(proof, example);
  writeFileSync(key, publicKeyPem(answer.publicKey ?? new Uint8Array(32)));
  const good = python([PYTHON_PAGE, proof, key]);
  expect([good.status, good.stdout]).toEqual([
    0,
    expect.stringContaining(`${proof}: verified\n  line 3, turn 1: {"ts"`),
  ]);
  expect(python([PYTHON_PAGE, proof]).status).toBe(4);
  writeFileSync(proof, example.replace("assistant_text", "assistant_Text"));
  expect(python([PYTHON_PAGE, proof, key]).status).toBe(1);
});
