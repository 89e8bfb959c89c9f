/**
 * Attacks on disclosed copies: by someone who only has the file, and by a redactor whose key the
 * reader trusts, and who signs whatever they like.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { loadSigner, type Signer } from "../../src/trust/keys/keys.ts";
import { type Checkpoint, readCheckpoint } from "../../src/trust/proof/checkpoint.ts";
import { readRecord, spellRecord } from "../../src/trust/proof/disclosure/records.ts";
import { statementMessage } from "../../src/trust/proof/disclosure/statement.ts";
import { disclose, judgeBytes, keysOf, SECRET, SHORT, verdictOf } from "../support/disclosing.ts";
import { isTried, seed } from "../support/seed.ts";
import { answered, SigningUser, said, turnOf } from "../support/signing-user.ts";

const ENTRIES = [...turnOf("good morning"), said(SECRET), said(SHORT), answered("good night")];
const KINDS = ["rye", "homeagent"] as const;

interface Case {
  readonly keys: ReturnType<typeof keysOf>;
  readonly signer: Signer;
  readonly copy: Buffer;
  /** Of the same log with other things withheld, and of another log by the same key. */
  readonly others: readonly Buffer[];
}

async function caseOf(dialect: "rye" | "homeagent"): Promise<Case> {
  const user = new SigningUser();
  const { target } = await user.write({ dialect }, ENTRIES);
  const other = await user.write({ dialect }, [...ENTRIES, said("more")]);
  const signer = await loadSigner(nodeHost, user.places);
  const { bytes: copy } = await disclose(user, target, { hasMasks: true });
  const { bytes: second } = await disclose(user, target, { finder: () => [], entries: [1] });
  const { bytes: third } = await disclose(user, other.target);
  const keys = keysOf(user);
  assert.equal(verdictOf(judgeBytes(keys, copy)), "verified");
  return { keys, signer, copy, others: [second, third] };
}

const linesOf = (copy: Buffer) => copy.toString("latin1").split("\n").slice(0, -1);
const joined = (lines: readonly string[]) =>
  Buffer.from(lines.map((line) => `${line}\n`).join(""), "latin1");

test.each(KINDS)("no copy with a flipped bit is verified (%s)", async (dialect) => {
  const { keys, copy } = await caseOf(dialect);
  for (let at = 0; at < copy.length; at++) {
    if (!isTried(at, 20)) continue;
    const altered = Buffer.from(copy);
    altered[at] = (altered[at] as number) ^ (1 << ((at + seed) % 8));
    assert.notEqual(judgeBytes(keys, altered).verdict, "verified", `byte ${at}`);
  }
});

test.each(KINDS)("no copy that is cut, or has more bytes, is verified (%s)", async (dialect) => {
  const { keys, copy } = await caseOf(dialect);
  for (let end = 0; end < copy.length; end++) {
    if (!isTried(end, 20)) continue;
    assert.notEqual(judgeBytes(keys, copy.subarray(0, end)).verdict, "verified", `cut at ${end}`);
  }
  for (const more of ["\n", "{}\n", "x", copy.toString("latin1")]) {
    const longer = Buffer.concat([copy, Buffer.from(more, "latin1")]);
    assert.equal(judgeBytes(keys, longer).verdict, "tampered");
  }
});

/** Every copy in which one line is dropped, doubled, swapped, or taken from another copy. */
function* rearranged({ copy, others }: Case): Generator<readonly [string, string[]]> {
  const lines = linesOf(copy);
  for (const [n, line] of lines.entries()) {
    const [before, after] = [lines.slice(0, n), lines.slice(n + 1)];
    yield [`without line ${n}`, [...before, ...after]];
    yield [`line ${n} twice`, [...before, line, line, ...after]];
    const [next, ...rest] = after;
    if (next !== undefined) yield [`line ${n} after the next`, [...before, next, line, ...rest]];
    const two = lines.slice(n, n + 2);
    yield [`two lines at ${n} twice`, [...before, ...two, ...two, ...after.slice(1)]];
    yield [`without two lines at ${n}`, [...before, ...after.slice(1)]];
    for (const [nth, other] of others.entries()) {
      for (const [m, foreign] of linesOf(other).entries()) {
        if (foreign === line) continue;
        yield [`line ${n} is line ${m} of copy ${nth}`, [...before, foreign, ...after]];
        const pair = linesOf(other).slice(m, m + 2);
        yield [
          `two lines at ${n} are those at ${m} of copy ${nth}`,
          [...before, ...pair, ...after.slice(1)],
        ];
      }
    }
  }
}

test.each(KINDS)("no rearranged copy is verified (%s)", async (dialect) => {
  const made = await caseOf(dialect);
  let tried = 0;
  for (const [what, lines] of rearranged(made)) {
    if (!isTried(tried++, 20)) continue;
    const altered = joined(lines);
    if (altered.equals(made.copy)) continue;
    assert.notEqual(judgeBytes(made.keys, altered).verdict, "verified", what);
  }
  assert.ok(tried > 500);
});

/** What a line says as a checkpoint, if it still is one. */
function claimed(line: string): Checkpoint | null {
  const bytes = Buffer.from(line, "latin1");
  return readCheckpoint(bytes, "rye") ?? readCheckpoint(bytes, "sidecar");
}

/** The copy with a statement that fits it, signed by a redactor whom the reader trusts. */
async function signedAgain(lines: readonly string[], signer: Signer): Promise<Buffer | null> {
  const last = readRecord(Buffer.from(lines.at(-1) ?? "", "latin1"));
  if (last?.is !== "statement") return null;
  const body = lines.slice(0, -1);
  const bytes = joined(body);
  const { facts } = last.statement;
  const withheld = facts.withheld.map((each) => ({ ...each, lines: 0, strings: 0 }));
  let head = facts.head;
  for (const line of body) {
    const record = readRecord(Buffer.from(line, "latin1"));
    const gaps = record?.is === "line" ? record.gaps.map(({ because }) => because) : [];
    for (const gap of gaps)
      if (gap && withheld[gap.why]) (withheld[gap.why] as { strings: number }).strings++;
    if (record?.is === "leaf" && withheld[record.because.why]) {
      (withheld[record.because.why] as { lines: number }).lines++;
    }
    const said = claimed(line);
    if (!said) continue;
    const { seq, log, ts } = said;
    const hash = createHash("sha256").update(`${line}\n`, "latin1").digest("hex");
    head = { log, seq, ts, line: hash };
  }
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const again = { ...facts, head, withheld, bytes: bytes.length, sha256, kid: signer.kid };
  const sig = await signer.sign(statementMessage(again));
  const statement = spellRecord({ is: "statement", statement: { facts: again, sig } });
  return Buffer.concat([bytes, Buffer.from(`${statement}\n`)]);
}

test.each(KINDS)(
  "a trusted redactor signs an unaltered copy again, and it is verified (%s)",
  async (dialect) => {
    const { keys, copy, signer } = await caseOf(dialect);
    const again = await signedAgain(linesOf(copy), signer);
    assert.deepEqual(again, copy);
    assert.equal(judgeBytes(keys, copy).verdict, "verified");
  },
);

test.each(KINDS)("a trusted redactor cannot rearrange what was signed (%s)", async (dialect) => {
  const made = await caseOf(dialect);
  const shownBefore = new Set(judgeBytes(made.keys, made.copy).text.split("\n"));
  for (const other of made.others.slice(0, 1)) {
    for (const line of judgeBytes(made.keys, other).text.split("\n")) shownBefore.add(line);
  }
  let [tried, verified] = [0, 0];
  for (const [what, lines] of rearranged(made)) {
    if (!isTried(tried++, 20)) continue;
    const altered = await signedAgain(lines, made.signer);
    if (!altered) continue;
    const judged = judgeBytes(made.keys, altered);
    if (judged.verdict !== "verified") continue;
    // Only this remains: showing or withholding another part of the same log.
    verified++;
    for (const line of judged.text.split("\n")) assert.ok(shownBefore.has(line), what);
  }
  assert.ok(verified < tried / 20, `${verified} of ${tried}`);
});

/** Whether two records differ only in the redactor's own words. */
function isReworded(one: string, other: string): boolean {
  const [before, after] = [one, other].map((line) => line.replace(/"mask":"(?:[^"\\]|\\.)*"/g, ""));
  return one.includes('"mask":') && before === after;
}

test.each(KINDS)(
  "a trusted redactor cannot alter a shown line, a salt, a hash or a length (%s)",
  async (dialect) => {
    const { keys, copy, signer } = await caseOf(dialect);
    const lines = linesOf(copy);
    let tried = 0;
    for (const [n, line] of lines.slice(0, -1).entries()) {
      for (let at = 0; at < line.length; at++) {
        if (!isTried(tried++, 20)) continue;
        const code = line.charCodeAt(at);
        const flipped = `${line.slice(0, at)}${String.fromCharCode(code ^ 1)}${line.slice(at + 1)}`;
        const altered = await signedAgain(
          [...lines.slice(0, n), flipped, ...lines.slice(n + 1)],
          signer,
        );
        if (!altered) continue;
        const { verdict, text } = judgeBytes(keys, altered);
        if (verdict === "verified" && isReworded(line, flipped)) continue;
        assert.notEqual(verdict, "verified", `line ${n}, byte ${at}: ${text.length}`);
      }
    }
  },
);

test.each(KINDS)("the redactor's wording and reasons are signed, too (%s)", async (dialect) => {
  const { keys, copy } = await caseOf(dialect);
  for (const [said, other] of [
    ["[withheld]", "[Withheld]"],
    ['"reason":"a test"', '"reason":"a text"'],
  ] as const) {
    const altered = copy.toString("latin1").replace(said, other);
    assert.notEqual(altered, copy.toString("latin1"));
    assert.equal(judgeBytes(keys, Buffer.from(altered, "latin1")).verdict, "tampered");
  }
});

test("an untrusted redactor makes a copy untrusted, and the report names both keys", async () => {
  const { keys, copy } = await caseOf("rye");
  const stranger = await loadSigner(nodeHost, new SigningUser().places);
  const altered = await signedAgain(linesOf(copy), stranger);
  const judged = judgeBytes(keys, altered ?? Buffer.alloc(0));
  expect(verdictOf(judged)).toBe("untrusted KEY_UNKNOWN");
  expect([judged.redactor?.kid, judged.judge.keys.length]).toEqual([stranger.kid, 1]);
});

test("a hostile copy neither crashes nor takes much memory or time", async () => {
  const { keys } = await caseOf("rye");
  const header =
    '{"verbatim":"disclosure","v":1,"dialect":"rye","content":"lines","parts":64,"genesis":"opened"}';
  const part = "0".repeat(64);
  const salt = "A".repeat(22);
  const huge = `{"line":"${salt}","without":[{"at":1,"len":4294967295,"part":"${part}","why":0}]}`;
  const deep = "[".repeat(100_000);
  for (const lines of [
    [],
    [""],
    [header],
    [header, huge, '""'],
    [header, deep],
    [header, header],
    [huge],
  ]) {
    assert.equal(judgeBytes(keys, joined(lines)).verdict, "tampered");
  }
  const newer = header.replace('"v":1', '"v":2');
  assert.equal(verdictOf(judgeBytes(keys, joined([newer]))), "unreadable NEWER_FORMAT");
});
