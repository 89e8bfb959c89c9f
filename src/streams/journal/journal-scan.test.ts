import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { memoryHost } from "../../../test/support/memory-files.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { formatOffset } from "../files/offset-token.ts";
import { seedOf, segmentHeader, segmentName } from "./journal.ts";
import { decodeRecord, type Op, RecordBuffer } from "./journal-record.ts";
import { type ScannedJournal, scanJournal } from "./journal-scan.ts";

const STORE = "0123456789abcdef";
const SALT = "fedcba9876543210";

/** A segment that begins with `firstLsn`, and the offset of each of its records. */
function segment(firstLsn: number, batches: readonly (readonly Op[])[]): [Buffer, number[]] {
  const header = Buffer.from(segmentHeader(STORE, firstLsn, SALT));
  const records = new RecordBuffer();
  const places: number[] = [];
  let lsn = firstLsn;
  for (const batch of batches) {
    const first = lsn;
    for (const op of batch) {
      places.push(header.length + records.length);
      records.add(lsn++, first, op, seedOf(SALT));
    }
  }
  const bytes = Buffer.concat([header, records.bytes.subarray(0, records.length)]);
  return [bytes, [...places, bytes.length]];
}

async function scan(segments: Record<number, Buffer>, writtenBackLsn = 0): Promise<ScannedJournal> {
  const files = new Map<string, Uint8Array>();
  for (const [first, bytes] of Object.entries(segments)) {
    files.set(`/journal/${segmentName(Number(first))}`, bytes);
  }
  const directory = await memoryHost(files).files.openDirectory("/journal", { create: false });
  return scanJournal(directory, STORE, writtenBackLsn);
}

function appended(text: string): Op {
  const bytes = Buffer.from(text);
  const content = { file: "s.bin", pos: 0, from: 0, lengths: [bytes.length], bytes };
  const turn = { producer: null, streamSeq: null, close: false };
  return { op: "append", path: "/s", at: 1, ...content, ...turn };
}

function flipped(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] as number) ^ 0x10;
  return changed;
}

const anyText = fc.string({ unit: "binary" });
const PLAIN = { noNullPrototype: true } as const;
const anyTurn = fc.record({ id: anyText, epoch: fc.nat(), seq: fc.nat() }, PLAIN);
const anyContent = fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 })).map((messages) => ({
  file: "f.jsonl",
  lengths: messages.map((message) => message.length),
  bytes: Buffer.concat(messages),
}));
const anyAppend = fc.record(
  {
    op: fc.constant("append" as const),
    path: anyText,
    at: fc.nat(),
    pos: fc.nat(),
    from: fc.nat(),
    producer: fc.option(anyTurn),
    streamSeq: fc.option(anyText),
    close: fc.boolean(),
  },
  PLAIN,
);
const anyCreate = fc.record(
  {
    op: fc.constant("create" as const),
    path: anyText,
    at: fc.nat(),
    pos: fc.nat(),
    from: fc.nat(),
    streamId: anyText,
    readSeq: fc.nat(),
    contentType: anyText,
    isJson: fc.boolean(),
    lifetime: fc.constantFrom(
      { kind: "forever" as const },
      { kind: "ttl" as const, seconds: 7 },
      { kind: "until" as const, atMs: 5, text: "then" },
    ),
    inheritsLifetime: fc.boolean(),
    fork: fc.option(
      fc.record(
        { source: anyText, at: fc.constant(formatOffset(0, 7)), subOffset: fc.nat() },
        PLAIN,
      ),
    ),
    close: fc.boolean(),
  },
  PLAIN,
);
const anyDelete = fc.record(
  {
    op: fc.constant("delete" as const),
    path: anyText,
    at: fc.nat(),
    ended: fc.array(anyText),
    files: fc.array(anyText),
    released: fc.option(anyText),
  },
  PLAIN,
);
const anyRecord = fc.record(
  {
    op: fc.constant("record" as const),
    key: anyText,
    value: fc.option(anyText.filter((text) => text.isWellFormed())),
  },
  PLAIN,
);
const anyOp: fc.Arbitrary<Op> = fc.oneof(
  fc.tuple(anyAppend, anyContent).map(([op, content]) => ({ ...op, ...content })),
  fc.tuple(anyCreate, anyContent).map(([op, content]) => ({ ...op, ...content })),
  anyDelete,
  anyRecord,
);

test("every record is read as it was written", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyOp, { minLength: 1 }), { minLength: 1 }),
      async (batches) => {
        const [bytes] = segment(7, batches);
        const { records, lastLsn } = await scan({ 7: bytes }, 6);
        assert.deepEqual(
          records.map(({ op }) => op),
          batches.flat(),
        );
        assert.deepEqual(
          records.map(({ lsn }) => lsn),
          batches.flat().map((_, n) => 7 + n),
        );
        assert.equal(lastLsn, 6 + batches.flat().length);
      },
    ),
  );
});

test("a journal cut at any byte ends before the cut record", async () => {
  const [bytes, places] = segment(1, [[appended("a")], [appended("b"), appended("\n\n{")]]);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const whole = places.slice(1).filter((end) => end <= cut).length;
    const { records, lastLsn } = await scan({ 1: bytes.subarray(0, cut) });
    assert.deepEqual([records.length, lastLsn], [whole, whole], `cut at ${cut}`);
  }
});

test("an altered record in the last batch is discarded with everything after it", async () => {
  const [bytes, places] = segment(1, [[appended("a")], [appended("b"), appended("c")]]);
  const last = places[1] as number;
  for (let at = last; at < bytes.length; at++) {
    const { records } = await scan({ 1: flipped(bytes, at) });
    assert.equal(records.length, at < (places[2] as number) ? 1 : 2, `byte ${at}`);
  }
});

test("an altered byte before the last batch is damage, wherever it is", async () => {
  const [bytes, places] = segment(1, [
    [appended("a"), appended("b")],
    [appended("c")],
    [appended("d")],
  ]);
  for (let at = 0; at < (places[3] as number); at++) {
    const { details } = await refusal(scan({ 1: flipped(bytes, at) }), "STORE_DAMAGED");
    assert.equal(details.path, `/journal/${segmentName(1)}`);
  }
});

test("segments are consecutive; one with a torn end may be followed by one that continues from there", async () => {
  const [first, places] = segment(1, [[appended("a")], [appended("b")]]);
  const [second] = segment(3, [[appended("c")]]);
  assert.equal((await scan({ 1: first, 3: second })).records.length, 3);
  const [again] = segment(2, [[appended("b again")]]);
  const torn = first.subarray(0, (places[2] as number) - 1);
  assert.equal((await scan({ 1: torn, 2: again })).records.length, 2);
  await refusal(scan({ 1: torn, 3: second }), "STORE_DAMAGED");
  await refusal(scan({ 3: second }), "STORE_DAMAGED");
});

test("records covered by a checkpoint are not required, and not returned", async () => {
  const [first] = segment(1, [[appended("a")], [appended("b")]]);
  const [third] = segment(5, [[appended("e")]]);
  const { records, lastLsn, segments } = await scan({ 1: first, 5: third }, 4);
  assert.deepEqual(
    records.map(({ lsn }) => lsn),
    [5],
  );
  assert.deepEqual([lastLsn, segments.length], [5, 2]);
  assert.equal((await scan({ 1: first }, 9)).lastLsn, 9);
});

test("a message that is a copy of a record is never mistaken for a record", async () => {
  const [copied, places] = segment(1, [[appended("x")], [appended("y")]]);
  const record = copied.subarray(places[1] as number);
  const header = Buffer.from(segmentHeader(STORE, 1, SALT));
  const forged = new RecordBuffer();
  forged.add(9, 9, appended("z"), 0);
  const payload = Buffer.concat([record, forged.bytes.subarray(0, forged.length)]);
  // The batch is torn: its first record is bad, and the posted bytes follow it.
  const torn = Buffer.concat([header, Buffer.from("{torn\n"), payload.subarray(record.length)]);
  assert.equal((await scan({ 1: torn })).records.length, 0);
});

test("a segment whose creation was interrupted by a crash is empty", async () => {
  const header = Buffer.from(segmentHeader(STORE, 1, SALT));
  for (let cut = 0; cut <= header.length; cut++) {
    assert.equal((await scan({ 1: header.subarray(0, cut) })).records.length, 0);
  }
  assert.equal((await scan({ 1: Buffer.alloc(header.length) })).records.length, 0);
});

test("a segment whose creation failed is skipped, and the one before continues", async () => {
  const [first] = segment(1, [[appended("a")], [appended("b")], [appended("c")]]);
  const [last] = segment(4, [[appended("d")]]);
  const unborn = Buffer.from(segmentHeader(STORE, 3, SALT)).subarray(0, -1);
  const { records } = await scan({ 1: first, 3: unborn, 4: last });
  assert.deepEqual(
    records.map(({ lsn }) => lsn),
    [1, 2, 3, 4],
  );
});

test("another store's journal is refused", async () => {
  const header = segmentHeader("another store id", 1, SALT);
  const [bytes, places] = segment(1, [[appended("a")]]);
  const other = Buffer.concat([Buffer.from(header), bytes.subarray(places[0])]);
  await refusal(scan({ 1: other }), "STORE_DAMAGED");
});

test("the batch that was written last is reported, because it may not have been synced", async () => {
  const [bytes, places] = segment(1, [[appended("a")], [appended("b"), appended("c")]]);
  const { doubtful } = await scan({ 1: bytes });
  assert.deepEqual(doubtful, {
    name: segmentName(1),
    at: places[1],
    bytes: bytes.subarray(places[1]),
  });
  assert.equal(decodeRecord(doubtful?.bytes as Buffer, 0, seedOf(SALT)).record?.lsn, 2);
});
