/** A proof shows lines of a session and proves their place and turn, whatever the dialect. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { hasSidecar } from "../../src/trust/proof/envelopes.ts";
import { keysOf, SECRET } from "../support/disclosing.ts";
import { judge, linesIn, prove, verdictOf } from "../support/proving.ts";
import { refusal } from "../support/refusal.ts";
import { ALL_SHAPES, SigningUser, turnOf } from "../support/signing-user.ts";

const SHAPES = Object.entries(ALL_SHAPES);
const TURNS = ["one", SECRET, "three", "four"].flatMap(turnOf);

test.each(SHAPES)("every line of a session can be proven (%s)", async (_n, shape) => {
  const user = new SigningUser();
  const { target, path } = await user.write(shape, TURNS);
  const keys = keysOf(user);
  const stranger = keysOf(new SigningUser());
  const turns: (number | null)[] = [];
  for (const { number, text } of linesIn(readFileSync(path))) {
    const { bytes } = await prove(user, target, [number]);
    const judged = judge(keys, bytes);
    expect(verdictOf(judged)).toBe("verified");
    expect(
      judged.lines.map(({ index, entry, bytes }) => [
        index,
        entry,
        Buffer.from(bytes).toString("latin1"),
      ]),
    ).toEqual([[number - 1, number, text]]);
    turns.push(judged.lines[0]?.turn ?? null);
    assert.equal(judge(stranger, bytes).verdict, "untrusted");
    if (hasSidecar(shape.dialect)) assert.notEqual(judged.genesis, "opened");
  }
  expect(turns).toEqual([...turns].sort());
  expect(turns[0]).toBe(1);
  expect(turns.at(-1)).toBeGreaterThan(hasSidecar(shape.dialect) ? 0 : 2);
});

test.each(SHAPES)("context shows the lines around, without checkpoints (%s)", async (_n, shape) => {
  const user = new SigningUser();
  const { target, path } = await user.write(shape, TURNS);
  const lines = linesIn(readFileSync(path));
  const { number } = lines[4] ?? { number: 0 };
  const { judgement } = await prove(user, target, [number], { context: 2 });
  const near = lines.filter((each) => Math.abs(each.number - number) <= 2);
  expect(judgement.verdict).toBe("verified");
  expect(judgement.lines.map(({ index }) => index + 1)).toEqual(near.map((each) => each.number));
  expect(judgement.lines.filter(({ entry }) => entry !== null)).toHaveLength(1);
});

test("a line that is not there, not signed or a checkpoint is refused", async () => {
  const user = new SigningUser();
  const { target, path } = await user.write({ dialect: "rye" }, TURNS);
  const all = readFileSync(path, "utf8").split("\n").length - 1;
  await refusal(prove(user, target, [all + 1]), "CANNOT_PROVE");
  const genesis = readFileSync(path, "utf8")
    .split("\n")
    .findIndex((line) => line.includes('"genesis"'));
  const { details } = await refusal(prove(user, target, [genesis + 1]), "CANNOT_PROVE");
  expect(details.reason).toContain("is a checkpoint");
});

test.each(SHAPES)("two heads of one log are consistent (%s)", async (_n, shape) => {
  const user = new SigningUser();
  const { target } = await user.write(shape, TURNS);
  await user.write(shape, TURNS, { root: target.root });
  const { judgement } = await prove(user, target, [], { consistency: [1, 2] });
  expect([judgement.verdict, judgement.consistent]).toEqual(["verified", [[1, 2]]]);
  await refusal(prove(user, target, [], { consistency: [2, 1] }), "CANNOT_PROVE");
  await refusal(prove(user, target, [], { consistency: [1, 1000] }), "CANNOT_PROVE");
});

test("without a key to state it, a genesis in a sidecar file leaves its lines incomplete", async () => {
  const user = new SigningUser();
  const { target } = await user.write({ dialect: "homeagent" }, TURNS);
  const { bytes } = await prove(user, target, [1], { signer: null });
  expect(verdictOf(judge(keysOf(user), bytes))).toBe("incomplete GENESIS_ABSENT");
  // The signature of a stranger is not enough.
  const other = new SigningUser();
  await other.write({ dialect: "rye" }, TURNS);
  const signer = await loadSigner(nodeHost, other.places);
  await refusal(prove(user, target, [1], { signer }), "NOT_VERIFIED");
});
