/** A leaf index makes proofs fast, and is believed in nothing. */

import assert from "node:assert/strict";
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LeafIndex } from "../../src/evidence/prove/leaf-index.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { docsPage } from "../support/docs-page.ts";
import { linesIn, prove } from "../support/proving.ts";
import { refusal } from "../support/refusal.ts";
import { isTried } from "../support/seed.ts";
import { SHAPES, SigningUser, turnOf, type Written } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** At least two whole groups of lines in the index, and a part of one. */
const TURNS = Array.from({ length: 70 }, (_, n) => turnOf(`turn ${n}`)).flat();
const CASES = Object.entries(SHAPES);

/** A prover with an index, and how much of the log it read as a whole. */
class Indexed {
  readonly directory = tempDirectory();
  read = 0;

  readonly user: SigningUser;
  readonly written: Written;

  constructor(user: SigningUser, written: Written) {
    [this.user, this.written] = [user, written];
  }

  async prove(entry: number, more = {}) {
    this.read = 0;
    const onProgress = (bytes: number) => {
      this.read += bytes;
    };
    const options = { indexDirectory: this.directory, indexFromBytes: 0, onProgress, ...more };
    return prove(this.user, this.written.target, [entry], options);
  }

  get path(): string {
    const [name = "none", ...others] = readdirSync(this.directory);
    assert.equal(others.length, 0);
    return join(this.directory, name);
  }
}

async function indexed(shape: (typeof CASES)[number][1]): Promise<Indexed> {
  const user = new SigningUser();
  return new Indexed(user, await user.write(shape, TURNS));
}

test.each(CASES)("with an index, a proof is the same and reads little (%s)", async (_n, shape) => {
  const made = await indexed(shape);
  const numbers = linesIn(readFileSync(made.written.path)).map(({ number }) => number);
  await made.prove(1);
  assert.ok(made.read > 0);
  expect(statSync(made.path).mode & 0o777).toBe(0o600);
  for (const number of numbers) {
    if (!isTried(number, 12)) continue;
    const { bytes } = await made.prove(number);
    expect(made.read).toBe(0);
    const { bytes: plain } = await made.prove(number, { indexDirectory: null });
    expect(Buffer.from(bytes).equals(plain)).toBe(true);
  }
});

test("a damaged, forged or foreign index is noticed, and made again", async () => {
  const made = await indexed({ dialect: "rye" });
  const { bytes: honest } = await made.prove(7);
  const index = readFileSync(made.path);
  const foreign = await indexed({ dialect: "rye" });
  await foreign.prove(7);
  const forged = (at: number) => {
    const body = Buffer.from(index.subarray(0, -32));
    body[at] = (body[at] as number) ^ 1;
    return Buffer.concat([body, nodeCrypto.sha256(body)]);
  };
  const header = index.indexOf("\n") + 1;
  const cases = [
    Buffer.alloc(0),
    index.subarray(0, -1),
    readFileSync(foreign.path),
    ...Array.from({ length: index.length - 32 }, (_, at) => at)
      .filter((at) => isTried(at, at < header ? 4 : 240))
      .map(forged),
  ];
  for (const bytes of cases) {
    writeFileSync(made.path, bytes);
    const { bytes: proof, judgement } = await made.prove(7);
    expect(judgement.verdict).toBe("verified");
    assert.ok(Buffer.from(proof).equals(honest));
  }
  writeFileSync(made.path, index.subarray(0, -1));
  await made.prove(7);
  assert.ok(made.read > 0 && readFileSync(made.path).equals(index));
});

test("a log that grew keeps its index, until a new line is asked for", async () => {
  const made = await indexed({ dialect: "rye" });
  const { target } = made.written;
  await made.prove(1);
  await made.user.write({ dialect: "rye" }, turnOf("more"), { root: target.root });
  await made.prove(4);
  expect(made.read).toBe(0);
  const last = linesIn(readFileSync(made.written.path)).at(-1)?.number ?? 0;
  const { judgement } = await made.prove(last);
  expect([judgement.verdict, made.read > 0]).toEqual(["verified", true]);
});

test("a line that was altered is not proven, with or without an index", async () => {
  const made = await indexed({ dialect: "rye" });
  await made.prove(1);
  const { path } = made.written;
  const text = readFileSync(path, "utf8");
  const [line = ""] = text.split("\n").filter((each) => each.includes("turn 27"));
  const number = text.split("\n").indexOf(line) + 1;
  writeFileSync(path, text.replace("turn 27", "turn 28"));
  const { details } = await refusal(made.prove(number), "NOT_VERIFIED");
  expect(details).toMatchObject({ verdict: "tampered" });
  writeFileSync(path, text);
  appendFileSync(path, `${line}\n`);
  const end = text.split("\n").length;
  const { details: unsigned } = await refusal(made.prove(end), "CANNOT_PROVE");
  expect(unsigned).toMatchObject({ reason: expect.stringContaining("is not signed") });
});

test("an index has no salt and no text, and the page's header is one", async () => {
  const made = await indexed({ dialect: "rye" });
  await made.prove(1);
  const index = readFileSync(made.path);
  const log = readFileSync(made.written.path, "utf8");
  const salt = /"salt":"([0-9a-f]{64})"/.exec(log)?.[1] ?? "";
  assert.ok(
    salt.length === 64 && !index.includes(salt) && !index.includes(Buffer.from(salt, "hex")),
  );
  assert.ok(!index.includes("turn 1"));
  const [header = ""] = index.toString("latin1").split("\n");
  const [example = ""] = docsPage("formats/leaf-index").text.match(/\{"verbatim":"leaves".*/) ?? [];
  expect(Object.keys(JSON.parse(header))).toEqual(Object.keys(JSON.parse(example)));
  // The example's own file: no group is complete, so it has no nodes.
  const body = Buffer.concat([Buffer.from(`${example}\n`), Buffer.alloc(8 + 3 * 24)]);
  assert.ok(LeafIndex.read(Buffer.concat([body, nodeCrypto.sha256(body)]), nodeCrypto));
});
