/** Proofs of sessions with a past: rotated, found, vouched, forked, replaced, and of streams. */

import assert from "node:assert/strict";
import { appendFileSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { proveCopy } from "../../src/evidence/prove/prove.ts";
import { verifyProof } from "../../src/evidence/prove/verify-proof.ts";
import { signHead, vouchForSession } from "../../src/evidence/verify/own-checkpoints.ts";
import { UserJudging } from "../../src/evidence/verify/user-judging.ts";
import { withSignedStream } from "../../src/evidence/verify/verify-directory.ts";
import { DisplayedLog, unsignedIn } from "../../src/trust/judge/displayed-log.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { disclose, keysOf, SECRET, SHORT } from "../support/disclosing.ts";
import { judge, linesIn, prove, verdictOf, withEnd } from "../support/proving.ts";
import { refusal } from "../support/refusal.ts";
import { JSON_STREAM, message, RAW_STREAM, SignedStreams } from "../support/signed-streams.ts";
import { ALL_SHAPES, SigningUser, said, turnOf, type Written } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const SHAPES = Object.entries(ALL_SHAPES);
const TURNS = [...turnOf("good morning"), ...turnOf(SECRET), said(SHORT)];
const numbersOf = ({ path }: Written) => linesIn(readFileSync(path)).map(({ number }) => number);

/** A line that another program appended, unsigned. */
function appendUnsigned({ path }: Written): void {
  appendFileSync(path, `${linesIn(readFileSync(path)).at(-1)?.text}\n`);
}

test.each(SHAPES)(
  "a reader of a rotated session needs only the old key (%s)",
  async (_n, shape) => {
    const user = new SigningUser();
    const written = await user.write(shape, TURNS);
    const { publicKey } = await loadSigner(nodeHost, user.places);
    await user.rotate();
    for (const text of ["one", "two"]) {
      await user.write(shape, turnOf(text), { root: written.target.root });
    }
    const { bytes } = await prove(user, written.target, [numbersOf(written).at(-1) ?? 0]);
    const reader = new SigningUser();
    expect(verdictOf(judge(keysOf(reader), bytes))).toBe("untrusted KEY_UNKNOWN");
    await reader.trusts(publicKey);
    const judged = judge(keysOf(reader), bytes);
    expect([verdictOf(judged), judged.keys.length]).toEqual(["verified", 2]);
    // Without the rotation the new key is unknown.
    const lines = Buffer.from(bytes).toString("latin1").split("\n").slice(0, -2);
    const at = lines.findIndex((line) => line.includes('"kind":"rotate"'));
    const without = withEnd(lines.filter((_, n) => n !== at && n !== at - 1));
    expect(judge(keysOf(reader), without).verdict).toBe("untrusted");
  },
);

test.each(SHAPES)("found lines are incomplete until a person vouches (%s)", async (_n, shape) => {
  const user = new SigningUser();
  const written = await user.write(shape, TURNS);
  appendUnsigned(written);
  const found = numbersOf(written).at(-1) ?? 0;
  const { target } = written;
  await refusal(prove(user, target, [found]), "CANNOT_PROVE");
  await user.write(shape, turnOf("good night"), { root: target.root });
  const incomplete = await prove(user, target, [found]);
  expect(verdictOf(judge(keysOf(user), incomplete.bytes))).toBe("incomplete FOUND_UNSIGNED");
  const before = await prove(user, target, [found - 2]);
  expect(verdictOf(before.judgement)).toBe("verified");

  const shown = new DisplayedLog(nodeHost, target, unsignedIn(await user.verify(written)));
  for await (const _ of shown.lines());
  await vouchForSession(nodeHost, target, shown, () => {});
  const { bytes } = await prove(user, target, [found]);
  expect(verdictOf(judge(keysOf(user), bytes))).toBe("verified");
  // A vouch of the same log that is not shown to continue it does not count.
  const lines = Buffer.from(bytes).toString("latin1").split("\n").slice(0, -2);
  const cut = withEnd(lines.filter((line) => !line.startsWith('{"consistency"')));
  expect(judge(keysOf(user), cut).verdict).not.toBe("verified");
});

test.each(SHAPES)(
  "lines from before the first signature are incomplete (%s)",
  async (_n, shape) => {
    const user = new SigningUser();
    const written = await user.write(shape, TURNS, { sign: false });
    await user.write(shape, turnOf("good night"), { root: written.target.root });
    const numbers = numbersOf(written);
    const first = await prove(user, written.target, [1]);
    expect(verdictOf(first.judgement)).toBe("incomplete FOUND_UNSIGNED");
    const last = await prove(user, written.target, [numbers.at(-1) ?? 0]);
    expect(verdictOf(last.judgement)).toBe("verified");
    // What the prover states of a genesis in a sidecar file cannot be changed by others.
    const text = Buffer.from(first.bytes).toString("latin1");
    if (!text.includes('{"genesis":{')) return;
    const lines = text
      .replace(/"found":\[\d+,\d+\]/, '"found":null')
      .split("\n")
      .slice(0, -2);
    expect(verdictOf(judge(keysOf(user), withEnd(lines)))).toBe("tampered CHAIN_BROKEN");
  },
);

test.each(SHAPES)(
  "a session with its first checkpoint only proves nothing yet (%s)",
  async (_n, shape) => {
    const user = new SigningUser();
    const written = await user.write(shape, [said(SECRET)], { sign: false });
    const store = await user.store({ root: written.target.root, ...shape });
    const session = store.session(written.target.id);
    await session.addCheckpoints(async () => [{ vouches: null }]);
    await session.release();
    await store.close();
    await refusal(prove(user, written.target, [1]), "CANNOT_DISCLOSE");
    assert.ok(await signHead(nodeHost, written.target, () => {}));
    const { judgement } = await prove(user, written.target, [1]);
    expect(judgement.verdict).toBe("verified");
  },
);

test("a proof of a history that a pinned head contradicts is a rollback", async () => {
  const user = new SigningUser();
  const shape = { dialect: "rye" } as const;
  const written = await user.write(shape, TURNS);
  const { root } = written.target;
  const copy = tempDirectory();
  cpSync(root, copy, { recursive: true });
  await user.write(shape, turnOf("this way"), { root });
  const path = join(tempDirectory(), "a.vbp");
  const last = numbersOf(written).at(-1) ?? 0;
  const judging = async () =>
    UserJudging.load(nodeHost, { places: user.places, onWarning: () => {} });
  writeFileSync(path, (await prove(user, written.target, [last])).bytes);
  expect(await verifyProof(nodeHost, path, { judging: await judging() })).toMatchObject({
    verdict: "verified",
    freshness: "match",
  });
  const older = join(tempDirectory(), "older.vbp");
  writeFileSync(older, (await prove(user, written.target, [1])).bytes);
  expect(await verifyProof(nodeHost, older, { judging: await judging() })).toMatchObject({
    verdict: "verified",
    freshness: "behind",
  });
  const before = await judging();
  // The same log continues elsewhere, from a copy, by a signer that has no pins.
  rmSync(join(user.places.stateDirectory, "heads.jsonl"));
  const other = await user.write(shape, turnOf("that way"), { root: copy });
  writeFileSync(path, (await prove(user, other.target, [last])).bytes);
  const report = await verifyProof(nodeHost, path, { judging: before });
  expect([report.verdict, report.findings.map(({ code }) => code)]).toEqual(["rollback", ["FORK"]]);
});

const RAW = Buffer.from([...Buffer.alloc(120_000, "abc"), 0x0a, 0xff, 0x00, 0x22]);

test.each([
  ["JSON", JSON_STREAM, [message({ text: SECRET }), message({ text: "hello" })]],
  [
    "raw",
    RAW_STREAM,
    [
      { body: RAW, close: false },
      { body: Buffer.from(SHORT), close: false },
    ],
  ],
] as const)("entries of %s streams are proven", async (kind, options, appends) => {
  const streams = new SignedStreams();
  for (const each of appends) {
    const store = await streams.open(); // Closing it signs: one stretch each.
    if (each === appends[0]) await store.create("/kitchen", options);
    await store.append("/kitchen", each);
    await store.close();
  }
  await withSignedStream(nodeHost, streams.directory, "/kitchen", async (log) => {
    for (const entry of [1, 2]) {
      const { judgement, bytes } = await prove(streams.user, log, [entry]);
      const [line, ...others] = judgement.lines;
      expect([verdictOf(judgement), line?.turn, others.length]).toEqual(["verified", null, 0]);
      if (kind === "raw" && entry === 1) assert.deepEqual(Buffer.from(line?.bytes ?? []), RAW);
      const copy = join(tempDirectory(), "a.vbd");
      writeFileSync(copy, (await disclose(streams.user, log, { finder: () => [] })).bytes);
      const how = { keys: keysOf(streams.user), nowMs: () => 1.8e12 };
      const signer = await loadSigner(nodeHost, streams.user.places);
      const asked = { entries: [entry], context: 0, consistency: null };
      const again = await proveCopy(nodeHost, copy, asked, { ...how, signer });
      assert.ok(Buffer.from(again.bytes).equals(bytes));
    }
  });
});

test.each(SHAPES)(
  "a copy with withheld strings proves the rest of a line (%s)",
  async (_n, shape) => {
    const user = new SigningUser();
    const written = await user.write(shape, TURNS);
    const copy = join(tempDirectory(), "a.vbd");
    writeFileSync(copy, (await disclose(user, written.target)).bytes);
    const keys = keysOf(user);
    const signer = await loadSigner(nodeHost, user.places);
    const proven = (entry: number) => {
      const asked = { entries: [entry], context: 0, consistency: null };
      return proveCopy(nodeHost, copy, asked, { keys, signer, nowMs: () => 1.8e12 });
    };
    let gapped = 0;
    for (const { number, text } of linesIn(readFileSync(written.path))) {
      if (text.includes("90417")) {
        await refusal(proven(number), "CANNOT_PROVE");
        continue;
      }
      const { bytes, judgement } = await proven(number);
      expect(verdictOf(judgement)).toBe("verified");
      gapped += judgement.lines[0]?.gaps.length ?? 0;
      assert.ok(!Buffer.from(bytes).includes("is 48213"));
      const direct = await prove(user, written.target, [number]);
      if (!text.includes("48213")) assert.ok(Buffer.from(direct.bytes).equals(bytes));
    }
    assert.ok(gapped > 0);
  },
);

test("checkpoints of two histories of one log do not join", async () => {
  const user = new SigningUser();
  const shape = { dialect: "rye" } as const;
  const { target } = await user.write(shape, TURNS);
  const copy = tempDirectory();
  cpSync(target.root, copy, { recursive: true });
  const continued = async (root: string, text: string) => {
    rmSync(join(user.places.stateDirectory, "heads.jsonl"));
    for (const n of [1, 2]) await user.write(shape, turnOf(`${text} ${n}`), { root });
    const written = { ...target, root };
    const lines = linesIn(readFileSync(join(root, target.logId)));
    const { bytes } = await prove(user, written, [lines.at(-1)?.number ?? 0]);
    return Buffer.from(bytes).toString("latin1").split("\n").slice(0, -2);
  };
  const [one, other] = [
    await continued(target.root, "this way"),
    await continued(copy, "that way"),
  ];
  const keys = keysOf(user);
  expect([one, other].map((lines) => verdictOf(judge(keys, withEnd(lines))))).toEqual([
    "verified",
    "verified",
  ]);
  const at = one.findIndex((line) => line.startsWith('{"checkpoint":')) + 1;
  const joined = one.map((line, n) => (n === at ? (other[at] ?? "") : line));
  expect(verdictOf(judge(keys, withEnd(joined)))).toBe("tampered CHAIN_BROKEN");
});
