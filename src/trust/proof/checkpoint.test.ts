/** A checkpoint has one spelling: a written one is read back, and no other line is a checkpoint. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import {
  asciiJson,
  CHECKPOINT_BYTES_MAX,
  type CheckpointFacts,
  type CheckpointKind,
  type EnvelopeName,
  readCheckpoint,
  SIG2_BYTES,
  writeCheckpoint,
} from "./checkpoint.ts";

const text = fc.string({ unit: "binary", maxLength: 20 });
const count = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constant(0), fc.constant(2 ** 53 - 1));
const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: digits, maxLength: digits });
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const found = orNull(fc.tuple(count, count));

const kind: fc.Arbitrary<CheckpointKind> = fc.oneof(
  fc.record({
    kind: fc.constant("genesis" as const),
    salt: hex(64),
    parts: count,
    from: orNull(fc.record({ log: hex(32), seq: count, line: hex(64), at: count })),
    found,
    vouched: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("recovery" as const),
    cut: count,
    found,
    vouched: fc.boolean(),
    lost: orNull(fc.record({ seq: count, line: hex(64) })),
  }),
  fc.record({ kind: fc.constant("rotate" as const), next: hex(64) }),
  fc.record({
    kind: fc.constant("link" as const),
    to: fc.record({ id: text, log: hex(32) }),
  }),
  fc.record({ kind: fc.constantFrom("turn" as const, "batch" as const, "final" as const) }),
);

const facts: fc.Arbitrary<CheckpointFacts> = fc
  .tuple(
    fc.record({
      turn: count,
      byteOffset: count,
      hash: hex(64),
      fp: hex(16),
      log: hex(32),
      seq: count,
      ts: fc.constantFrom("2026-02-09T04:03:50Z", "2026-02-09T04:03:50.365Z"),
      prev: hex(64),
      seg: hex(64),
      rev: count,
      kid: hex(64),
      tree: fc.record({ size: count, root: hex(64) }),
    }),
    kind,
  )
  .map(([said, which]) => ({ ...said, ...which }) as CheckpointFacts);

/** Every way in which a checkpoint's line begins, and which reader accepts it. */
type Opening = "rye-flat" | "rye-payload" | "entire" | "sidecar";

/** A session's name, and the fields of an envelope that names it. */
const ENVELOPES: Readonly<Record<Opening, (session: string, other: string) => object>> = {
  "rye-flat": (thread_id, directive) => ({ ts: "now", type: "checkpoint", thread_id, directive }),
  "rye-payload": (thread_id, timestamp) => ({ timestamp, thread_id }),
  entire: (sessionId, cwd) => ({
    type: "checkpoint",
    sessionId,
    uuid: "u",
    parentUuid: cwd === "" ? null : "p",
    timestamp: "now",
    cwd,
    version: "1",
  }),
  sidecar: (thread_id, timestamp) => ({ timestamp, thread_id }),
};
const OPENINGS = Object.keys(ENVELOPES) as Opening[];

function readerOf(opening: Opening): EnvelopeName {
  return opening === "entire" || opening === "sidecar" ? opening : "rye";
}

async function lineOf(
  name: Opening,
  said: CheckpointFacts,
  { session = "hello-1", other = "hello", seed = 1 } = {},
): Promise<Buffer> {
  const opening = `${asciiJson(ENVELOPES[name](session, other)).slice(0, -1)},`;
  // Not a signature: only the spelling is tested here.
  const sign = async (message: Uint8Array) =>
    Uint8Array.from({ length: 64 }, (_, at) => (seed * (at + 7) + message.length) % 256);
  return Buffer.from(await writeCheckpoint(opening, said, sign));
}

test("every written checkpoint reads back with all its fields, in every envelope", async () => {
  const given = fc.tuple(facts, text, text, fc.nat(255));
  await fc.assert(
    fc.asyncProperty(given, async ([said, session, other, seed]) => {
      for (const name of OPENINGS) {
        const line = await lineOf(name, said, { session, other, seed });
        assert.ok(line.every((byte, at) => (at === line.length - 1 ? byte === 10 : byte >= 0x20)));
        assert.ok(line.every((byte) => byte < 0x7f));
        const read = readCheckpoint(line.subarray(0, -1), readerOf(name));
        assert.ok(read, line.toString());
        const { session: named, sig, sig2, statement, ...rest } = read;
        assert.deepEqual(rest, JSON.parse(JSON.stringify(said)));
        assert.equal(named, session);
        assert.deepEqual([sig.length, sig2.length], [64, 64]);
        const before = line.subarray(0, -1 - SIG2_BYTES);
        assert.equal(Buffer.from(statement).toString(), `verbatim/checkpoint/v2\n${before}`);
      }
    }),
    { numRuns: 150 },
  );
});

const PLAIN: CheckpointFacts = {
  turn: 1,
  byteOffset: 2847,
  hash: "a".repeat(64),
  fp: "b".repeat(16),
  kind: "turn",
  ts: "2026-02-09T04:03:50.365Z",
  log: "c".repeat(32),
  seq: 3,
  prev: "d".repeat(64),
  seg: "e".repeat(64),
  tree: { size: 9, root: "f".repeat(64) },
  rev: 2,
  kid: "0".repeat(64),
};

test("a checkpoint is read in its own dialect only; in rye's, in either of two envelopes", async () => {
  for (const name of OPENINGS) {
    const line = (await lineOf(name, PLAIN)).subarray(0, -1);
    for (const other of ["rye", "entire", "sidecar"] as const) {
      const expected = readerOf(name) === other || areAlike(name, other);
      assert.equal(readCheckpoint(line, other) !== null, expected, `${name} as ${other}`);
    }
  }
});

/** A sidecar's line is spelled like one of rye's; only the file tells them apart. */
function areAlike(opening: Opening, reader: EnvelopeName): boolean {
  return reader === "rye"
    ? opening === "sidecar"
    : reader === "sidecar" && opening === "rye-payload";
}

test("a space anywhere outside a string means the line is not a checkpoint", async () => {
  for (const name of OPENINGS) {
    const line = (await lineOf(name, PLAIN)).toString().trimEnd();
    for (let at = 0; at <= line.length; at++) {
      const spaced = `${line.slice(0, at)} ${line.slice(at)}`;
      const read = readCheckpoint(Buffer.from(spaced), readerOf(name));
      // In an envelope's strings a space is an ordinary character, and signed.
      const isInText =
        /^[^"]*("[^"]*"[^"]*)*"[^"]*$/.test(line.slice(0, at)) && at < line.indexOf('"event_type"');
      assert.ok(read === null || isInText, `a space at ${at} of ${name}`);
    }
  }
});

test("keys in another order, twice, missing or added mean the line is not a checkpoint", async () => {
  for (const name of OPENINGS) {
    const line: string = (await lineOf(name, PLAIN)).toString().trimEnd();
    const fields: (readonly [string, unknown])[] = Object.entries(JSON.parse(line).payload);
    const read = (entries: readonly (readonly [string, unknown])[]) => {
      const body = entries.map(([key, value]) => `"${key}":${JSON.stringify(value)}`).join(",");
      const edited = `${line.slice(0, line.indexOf('"payload":{'))}"payload":{${body}}}`;
      return readCheckpoint(Buffer.from(edited), readerOf(name));
    };
    assert.ok(read(fields), "the fields themselves are good");
    for (const [at, field] of fields.entries()) {
      const without = fields.filter((_, n) => n !== at);
      assert.equal(read(without), null, `without ${field[0]}`);
      assert.equal(read([...fields, field]), null, field[0]);
      assert.equal(read([["x", 1], ...fields]), null);
      for (const to of without.keys()) {
        const moved = [...without.slice(0, to), field, ...without.slice(to)];
        if (to === at) continue;
        assert.equal(read(moved), null, `${field[0]} at ${to}`);
      }
    }
  }
});

test("only checkpoint 1 of a sidecar file has the hash of genesis, in one place", async () => {
  const genesis = "9".repeat(64);
  const kinds: readonly CheckpointKind[] = [
    { kind: "turn" },
    { kind: "recovery", cut: 0, found: null, vouched: false, lost: null },
    { kind: "rotate", next: "1".repeat(64) },
    { kind: "link", to: { id: "a", log: "2".repeat(32) } },
    { kind: "genesis", salt: "3".repeat(64), parts: 64, from: null, found: null, vouched: false },
  ];
  for (const [name, seq, which] of OPENINGS.flatMap((name) => {
    return [0, 1, 2].flatMap((seq) => kinds.map((kind) => [name, seq, kind] as const));
  })) {
    const said = { ...PLAIN, seq, ...which, genesis } as CheckpointFacts;
    const line = (await lineOf(name, said)).subarray(0, -1);
    const isGood = name === "sidecar" && seq === 1 && which.kind !== "genesis";
    const what = `${name} ${seq} ${which.kind}`;
    const read = readCheckpoint(line, readerOf(name));
    assert.equal(read?.genesis, isGood ? genesis : undefined, what);
    assert.equal(read !== null, isGood, what);
    const elsewhere = line
      .toString()
      .replace(`"genesis":"${genesis}",`, "")
      .replace('"kid":', `"genesis":"${genesis}","kid":`);
    assert.equal(readCheckpoint(Buffer.from(elsewhere), readerOf(name)), null, what);
  }
});

test("a number has one form: no sign, no leading zero, no fraction or exponent, and is exact", async () => {
  const line = (await lineOf("rye-flat", PLAIN)).toString().trimEnd();
  const withOffset = (form: string) =>
    readCheckpoint(Buffer.from(line.replace('"byte_offset":2847', `"byte_offset":${form}`)), "rye");
  assert.equal(withOffset("9007199254740991")?.byteOffset, 2 ** 53 - 1);
  for (const form of [
    "-1",
    "-0",
    "+1",
    "01",
    "1.0",
    "1e3",
    "1E3",
    "0x1",
    '"1"',
    "null",
    "",
    "[1]",
    "NaN",
    "9007199254740992",
    "9007199254740993",
    "10000000000000000",
    "99999999999999999999",
  ]) {
    assert.equal(withOffset(form), null, form);
  }
});

test("a signature has one spelling: base64url without slack, padded in sig and not in sig2", async () => {
  const line = (await lineOf("rye-flat", PLAIN)).toString().trimEnd();
  const { sig, sig2 } = JSON.parse(line).payload;
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=";
  for (const last of alphabet) {
    const isGood = "AQgw".includes(last);
    for (const edited of [
      line.replace(sig2, sig2.slice(0, -1) + last),
      line.replace(sig, `${sig.slice(0, -3)}${last}==`),
    ]) {
      assert.equal(readCheckpoint(Buffer.from(edited), "rye") !== null, isGood, last);
    }
  }
  for (const edited of [line.replace(sig, sig.slice(0, -2)), line.replace(sig2, `${sig2}==`)]) {
    assert.equal(readCheckpoint(Buffer.from(edited), "rye"), null);
  }
});

test("a line over the limit is neither read nor written as a checkpoint, and one at the limit is", async () => {
  const { length } = (await lineOf("rye-flat", PLAIN)).subarray(0, -1);
  const other = "x".repeat(CHECKPOINT_BYTES_MAX - length + "hello".length);
  const atLimit = (await lineOf("rye-flat", PLAIN, { other })).subarray(0, -1);
  assert.equal(atLimit.length, CHECKPOINT_BYTES_MAX);
  assert.ok(readCheckpoint(atLimit, "rye"));
  const over = Buffer.from(Buffer.from(atLimit).toString("latin1").replace("xx", "xxx"), "latin1");
  assert.equal(readCheckpoint(over, "rye"), null);
  await assert.rejects(lineOf("rye-flat", PLAIN, { other: `${other}x` }), /at most 64 KiB/);
});

test("reading any bytes does not throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      for (const name of OPENINGS) assert.equal(readCheckpoint(bytes, readerOf(name)), null);
    }),
  );
});
