/** Attacks on proofs by someone who has only files, and writes the checksum again. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ProofJudgement } from "../../src/trust/proof/inclusion/judge.ts";
import { keysOf, SECRET } from "../support/disclosing.ts";
import { judge, linesIn, prove, verdictOf, withEnd } from "../support/proving.ts";
import { isTried, seed } from "../support/seed.ts";
import { SigningUser, turnOf } from "../support/signing-user.ts";

const KINDS = ["rye", "homeagent"] as const;
const TURNS = ["one", SECRET, "three", "four"].flatMap(turnOf);

interface Case {
  readonly keys: ReturnType<typeof keysOf>;
  readonly proof: Buffer;
  /** Of other lines of the same log, and of another log by the same key. */
  readonly others: readonly Buffer[];
}

async function caseOf(dialect: (typeof KINDS)[number], nth: number): Promise<Case> {
  const user = new SigningUser();
  const { target, path } = await user.write({ dialect }, TURNS);
  const other = await user.write({ dialect }, TURNS);
  const numbers = linesIn(readFileSync(path)).map(({ number }) => number);
  const at = (n: number) => numbers.at(n) ?? 0;
  const of = async (log: typeof target, entries: readonly number[], more = {}) =>
    Buffer.from((await prove(user, log, entries, more)).bytes);
  const others = [
    await of(target, [at(nth + 1)]),
    await of(target, [at(nth)], { context: 2, consistency: [1, 2] }),
    await of(other.target, [at(nth)]),
  ];
  return { keys: keysOf(user), proof: await of(target, [at(nth)], { context: 1 }), others };
}

const CASES = KINDS.flatMap((kind) => [0, 4].map((nth) => [kind, nth] as const));
const linesOf = (proof: Buffer) => proof.toString("latin1").split("\n").slice(0, -1);
const joined = (lines: readonly string[]) =>
  Buffer.from(lines.map((line) => `${line}\n`).join(""), "latin1");

/** All that a proof says of the log. */
function saysOf({ lines, consistent, session, log }: ProofJudgement): string {
  const shown = lines.map(({ bytes, entry, ...rest }) => [
    rest,
    Buffer.from(bytes).toString("hex"),
  ]);
  return JSON.stringify([shown, consistent, session, log]);
}

test.each(CASES)("no proof with a flipped bit is verified (%s, line %i)", async (kind, nth) => {
  const { keys, proof } = await caseOf(kind, nth);
  const honest = judge(keys, proof);
  expect(verdictOf(honest)).toBe("verified");
  for (let at = 0; at < proof.length; at++) {
    if (!isTried(at, 8)) continue;
    const altered = Buffer.from(proof);
    altered[at] = (altered[at] as number) ^ (1 << ((at + seed) % 8));
    assert.notEqual(judge(keys, altered).verdict, "verified", `byte ${at}`);
    // With a checksum that fits, only what binds nothing can change: `entry`, and unused `parts`.
    const lines = linesOf(altered).slice(0, -1);
    const again = judge(keys, withEnd(lines));
    if (again.verdict === "verified") expect(saysOf(again)).toBe(saysOf(honest));
  }
});

test.each(CASES)(
  "no proof that is cut, or has more bytes, is verified (%s, %i)",
  async (kind, nth) => {
    const { keys, proof } = await caseOf(kind, nth);
    for (let end = 0; end < proof.length; end++) {
      if (!isTried(end, 8)) continue;
      assert.notEqual(judge(keys, proof.subarray(0, end)).verdict, "verified", `cut at ${end}`);
    }
    for (const more of ["\n", "{}\n", "x", proof.toString("latin1")]) {
      const longer = Buffer.concat([proof, Buffer.from(more, "latin1")]);
      assert.equal(judge(keys, longer).verdict, "tampered");
    }
  },
);

/** Every proof in which records are dropped, doubled, swapped, or taken from another proof. */
function* rearranged({ proof, others }: Case): Generator<readonly [string, string[]]> {
  const lines = linesOf(proof).slice(0, -1);
  for (const [n, line] of lines.entries()) {
    const [before, after] = [lines.slice(0, n), lines.slice(n + 1)];
    yield [`without line ${n}`, [...before, ...after]];
    yield [`without two lines at ${n}`, [...before, ...after.slice(1)]];
    yield [`line ${n} twice`, [...before, line, line, ...after]];
    const two = lines.slice(n, n + 2);
    yield [`two lines at ${n} twice`, [...before, ...two, ...two, ...after.slice(1)]];
    const [next, ...rest] = after;
    if (next !== undefined) yield [`line ${n} after the next`, [...before, next, line, ...rest]];
    yield [`two lines at ${n} last`, [...before, ...after.slice(1), ...two]];
    for (const [nth, other] of others.entries()) {
      const theirs = linesOf(other).slice(0, -1);
      for (const [m, foreign] of theirs.entries()) {
        const pair = theirs.slice(m, m + 2);
        yield [`line ${n} is line ${m} of ${nth}`, [...before, foreign, ...after]];
        yield [`two at ${n} are those at ${m} of ${nth}`, [...before, ...pair, ...after.slice(1)]];
        yield [`those at ${m} of ${nth} before ${n}`, [...before, ...pair, line, ...after]];
      }
    }
  }
}

test.each(CASES)("records that are moved prove nothing else (%s, line %i)", async (kind, nth) => {
  const made = await caseOf(kind, nth);
  const { keys, proof } = made;
  // Every line that an honest proof shows may be proven by another one, too.
  const honest = [proof, ...made.others.slice(0, 2)].map((each) => judge(keys, each));
  const places = new Set(
    honest
      .flatMap(({ lines }) => lines)
      .map(({ entry, bytes, ...rest }) => {
        return JSON.stringify([rest, Buffer.from(bytes).toString("hex")]);
      }),
  );
  const other = judge(keys, made.others[2] ?? proof);
  let tried = 0;
  for (const [what, lines] of rearranged(made)) {
    if (!isTried(tried++, 8)) continue;
    const altered = joined([...lines, linesOf(proof).at(-1) ?? ""]);
    if (altered.equals(proof)) continue;
    assert.notEqual(judge(keys, altered).verdict, "verified", what);
    const judged = judge(keys, withEnd(lines));
    if (judged.verdict !== "verified") continue;
    if (judged.log === other.log) {
      expect(saysOf(judged)).toBe(saysOf(other));
      continue;
    }
    for (const { entry, bytes, ...rest } of judged.lines) {
      assert.ok(places.has(JSON.stringify([rest, Buffer.from(bytes).toString("hex")])), what);
    }
  }
  assert.ok(tried > 500);
});

test("any bytes lead to a verdict", () => {
  const keys = keysOf(new SigningUser());
  for (const text of [
    "",
    "\n",
    "{}\n",
    "[]\n",
    '{"verbatim":"proof"}\n',
    '{"verbatim":"proof","v":1,"dialect":"rye","content":"lines","parts":64}\n',
    `{"verbatim":"proof","v":1,"dialect":"rye","content":"lines","parts":64}\n{"line":"${"A".repeat(22)}","without":[{"at":9007199254740991,"len":9007199254740991,"part":"${"0".repeat(64)}"}],"index":0,"entry":1,"path":""}\n\n`,
    `${"[".repeat(100_000)}\n`,
  ]) {
    assert.equal(judge(keys, Buffer.from(text)).verdict, "tampered");
  }
  const newer = '{"verbatim":"proof","v":2,"later":true}\n';
  expect(verdictOf(judge(keys, Buffer.from(newer)))).toBe("unreadable NEWER_FORMAT");
});
