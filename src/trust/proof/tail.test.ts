/** The tail of a signed log: what a crash explains, and what it does not. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { TailJudge } from "./tail.ts";

const SESSION = { key: "thread_id", id: "hello-1" };

function judged(chunks: readonly Uint8Array[], options = {}) {
  const tail = new TailJudge({
    envelope: "rye",
    session: SESSION,
    start: 1000,
    isData: false,
    ...options,
  });
  for (const chunk of chunks) tail.feed(chunk);
  tail.finish();
  const { lines, tornBytes, hasNul, fault } = tail;
  const types = Object.fromEntries(tail.types);
  return { lines, tornBytes, hasNul, types, code: fault?.code ?? null, at: fault?.byteOffset };
}

function codeOf(text: string | Uint8Array, options = {}): string | null {
  return judged([Buffer.from(text)], options).code;
}

test("a crash leaves whole lines, a torn line, or NULs", () => {
  const text =
    '{"type":"a","thread_id":"hello-1"}\n{"type":"a"}\nno JSON\n[]\n\n{"type":"b"\n{"torn';
  assert.deepEqual(judged([Buffer.from(text)]), {
    lines: 6,
    tornBytes: 6,
    hasNul: false,
    types: { a: 2 },
    code: null,
    at: undefined,
  });
  assert.deepEqual(judged([Buffer.alloc(512)]), {
    lines: 0,
    tornBytes: 512,
    hasNul: true,
    types: {},
    code: null,
    at: undefined,
  });
  assert.deepEqual(judged([]), {
    lines: 0,
    tornBytes: 0,
    hasNul: false,
    types: {},
    code: null,
    at: undefined,
  });
  assert.equal(judged([Buffer.from('\0\0"type":"checkpoint"}\n')]).hasNul, true);
});

test("every control byte but NUL and LF is a fault, in a line and in a torn one", () => {
  for (let byte = 1; byte < 0x20; byte++) {
    if (byte === 0x0a) continue;
    for (const end of ["\n", ""]) {
      const bytes = Buffer.concat([Buffer.from("{"), Uint8Array.of(byte), Buffer.from(`}${end}`)]);
      assert.equal(codeOf(bytes), "TAIL_CONTROL_BYTE", `byte ${byte}`);
      const inStream = byte === 0x09 ? null : "TAIL_CONTROL_BYTE";
      assert.equal(codeOf(bytes, { isData: true }), inStream, `byte ${byte} in a stream`);
    }
  }
  assert.equal(codeOf("{\x7f}\n"), null);
});

test("a line that readers disagree on or mistake is a fault", () => {
  assert.equal(codeOf(Uint8Array.of(0x22, 0xff, 0x22, 0x0a)), "TAIL_NOT_UTF8");
  assert.equal(codeOf(Uint8Array.of(0xed, 0xa0, 0x80, 0x0a)), "TAIL_NOT_UTF8");
  assert.equal(codeOf('{"type":"a","event_type":"b"}\n'), "TAIL_TWO_TYPES");
  assert.equal(codeOf('{"type":"checkpoint"}\n'), "NOT_A_CHECKPOINT");
  assert.equal(codeOf('{"type":"\\u0063heckpoint"}\n'), "NOT_A_CHECKPOINT");
  assert.equal(codeOf('{"thread_id":"other-1"}\n'), "OTHER_SESSION");
  assert.equal(codeOf('{"thread_id":"other-1"}\n', { session: null }), null);
  assert.equal(codeOf('{"thread_id":7}\n'), null);
});

test("a torn line may end inside a character", () => {
  assert.deepEqual(judged([Uint8Array.of(0x22, 0xc3)]).code, null);
});

test("the first fault is reported, with its line's offset", () => {
  const { code, at } = judged([Buffer.from('{"type":"a"}\n{"type":"checkpoint"}\n\r\n')]);
  assert.deepEqual([code, at], ["NOT_A_CHECKPOINT", 1013]);
});

test("a tail is judged the same in any chunks, and no bytes make it throw", () => {
  const piece = fc.constantFrom(
    '{"type":"a"}\n',
    '{"type":"checkpoint"}\n',
    "\r",
    "\0",
    "\xff",
    '{"x":"é"}\n',
    '{"torn',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.array(fc.nat(20)), (pieces, sizes) => {
      const bytes = Buffer.from(pieces.join(""), "latin1");
      const chunks: Uint8Array[] = [];
      let at = 0;
      for (const size of sizes) {
        chunks.push(bytes.subarray(at, at + size));
        at += size;
      }
      assert.deepEqual(judged([...chunks, bytes.subarray(at)]), judged([bytes]));
    }),
  );
});
