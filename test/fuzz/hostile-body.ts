/** Hostile bodies: JSON and other bytes, with correct or wrong framing. */

import type { Random } from "../torture/scheduler.ts";

export interface HostileBody {
  /** The header lines that declare its length, correctly or not. */
  readonly framing: readonly string[];
  readonly bytes: Buffer;
}

const TEXTS = [
  "",
  "x",
  "{}",
  "[]",
  "[[]]",
  '{"a":1}',
  '[{"a":1},{"b":"é"}]',
  "null",
  "1e999",
  '"\\ud800"',
  '{"a":1}{"b":2}',
  "[1,",
  "[,]",
  "\ufeff{}",
  '{"__proto__":{"x":1}}',
  '{"a":1,"a":2}',
  '"\u2028"',
  "\0",
  "[1]\n[2]",
  " \r\n[1]\r\n ",
  '{"type":"webhook","pattern":"**"}',
  '{"type":"pull-wake","pattern":"a","wake_stream":"b/c"}',
  '{"type":"pull-wake","streams":["a","b/c"],"wake_stream":"chat/1","lease_ttl_ms":1000}',
  '{"type":"webhook","pattern":"*","webhook":{"url":"http://169.254.169.254/"}}',
  '{"type":"webhook","pattern":"*","webhook":{"url":"https://[::ffff:127.0.0.1]/"}}',
  '{"streams":["../../canary.txt","/","",1]}',
  '{"worker":"w"}',
  '{"wake_id":"w","generation":1,"acks":[{"stream":"a","offset":"-1"}],"done":true}',
];

const BAD_UTF8 = Buffer.from([0x22, 0xc3, 0x28, 0x22]);

export function hostileBody(random: Random, isOrderly: boolean): HostileBody {
  const bytes = contents(random);
  const kind = random.below(isOrderly ? 3 : 8);
  const length = `Content-Length: ${bytes.length}`;
  switch (kind) {
    case 0:
      return { framing: [], bytes: Buffer.alloc(0) };
    case 1:
      return { framing: [length], bytes };
    case 2:
      return { framing: ["Transfer-Encoding: chunked"], bytes: chunked(random, bytes, false) };
    case 3:
      return { framing: ["Transfer-Encoding: chunked"], bytes: chunked(random, bytes, true) };
    case 4: // It declares more, or fewer, bytes than it sends.
      return { framing: [`Content-Length: ${random.below(2 * bytes.length + 10)}`], bytes };
    case 5: // Ambiguous framing: bytes that one reader skips are a request to another (request smuggling).
      return { framing: [length, "Transfer-Encoding: chunked"], bytes };
    case 6:
      return { framing: [length, `Content-Length: ${bytes.length + 1}`], bytes };
    default:
      return {
        framing: [`Content-Length: ${random.pick(["-1", "+1", "1_0", "0x1", "", "1 1"])}`],
        bytes,
      };
  }
}

function contents(random: Random): Buffer {
  switch (random.below(10)) {
    case 0:
      return Buffer.from("[".repeat(1 + random.below(30_000)));
    case 1:
      return Buffer.alloc(random.below(600_000), "x");
    case 2:
      return Buffer.from(`[${"1,".repeat(random.below(5000))}1]`);
    case 3:
      return BAD_UTF8;
    default:
      return Buffer.from(random.pick(TEXTS));
  }
}

function chunked(random: Random, bytes: Buffer, isBroken: boolean): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const piece = bytes.subarray(at, at + 1 + random.below(20_000));
    pieces.push(Buffer.from(`${size(random, piece.length, isBroken)}\r\n`), piece);
    if (!isBroken || random.below(10)) pieces.push(Buffer.from("\r\n"));
    at += piece.length;
  }
  const last = isBroken
    ? random.pick(["", "0\r\n", "0\r\nX: y\r\n\r\n", "00000\r\n\r\n"])
    : "0\r\n\r\n";
  return Buffer.concat([...pieces, Buffer.from(last)]);
}

function size(random: Random, length: number, isBroken: boolean): string {
  const hex = length.toString(16);
  if (!isBroken || random.below(3)) return hex;
  const extension = `;${"x".repeat(random.below(20_000))}`;
  return random.pick(["-1", "ffffffffffffffffff", "g", "", ` ${hex}`, `0x${hex}`, hex + extension]);
}
