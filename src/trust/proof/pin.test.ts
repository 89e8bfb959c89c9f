import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { pinOf } from "../../../test/support/pins.ts";
import { type Pin, pinFields, readPin } from "./pin.ts";

const GOOD = pinFields(pinOf("hello-1", 3));

test("a pin's line has these fields, in this order", () => {
  assert.deepEqual(Object.keys(GOOD), [
    "v",
    "place",
    "id",
    "log",
    "seq",
    "byte_offset",
    "line",
    "kind",
    "kid",
    "ts",
    "why",
  ]);
  assert.deepEqual(readPin(GOOD), { pin: pinOf("hello-1", 3), fault: null });
});

test("a line without any one of the fields, or with one more, is not a pin", () => {
  for (const name of Object.keys(GOOD)) {
    const { [name]: _, ...rest } = GOOD;
    assert.deepEqual(readPin(rest), { pin: null, fault: `without ${name}` });
    assert.equal(readPin({ ...rest, other: 1 }).fault, `without ${name}`);
  }
  assert.equal(readPin({ ...GOOD, other: 1 }).fault, "with an unknown field");
  const proto = JSON.parse(JSON.stringify(GOOD).replace("{", '{"__proto__":{"v":1},'));
  assert.equal(readPin(proto).fault, "with an unknown field");
});

const BAD: Readonly<Record<string, readonly unknown[]>> = {
  v: [0, -1, 0.5, "1", null],
  place: [
    "",
    "rye",
    "rye:",
    "rye:relative",
    "Rye:/x",
    ":/x",
    "rye:/a\0b",
    `rye:/${"x".repeat(8192)}`,
  ],
  id: ["", "a\0b", "x".repeat(8193), 1, {}],
  log: ["0".repeat(31), "0".repeat(33), "A".repeat(32), "g".repeat(32)],
  seq: [-1, 0.5, 2 ** 53, "0", Number.NaN],
  byte_offset: [-1, 0.5, 2 ** 53, "0"],
  line: ["0".repeat(63), "0".repeat(65), "F".repeat(64), `${"0".repeat(64)}\n`],
  kind: ["", "other", "__proto__", "constructor", "toString"],
  kid: ["0".repeat(63), "0".repeat(65)],
  ts: [
    "",
    "2026-02-09",
    "2026-02-09T04:03:50",
    "2026-02-09T04:03:50+00:00",
    " 2026-02-09T04:03:50Z",
  ],
  why: ["", "because", "hasOwnProperty"],
};

test("a bad field is reported by its name, never by its value", () => {
  for (const name of Object.keys(GOOD)) {
    for (const value of [...(BAD[name] ?? []), null, true, [], {}, [GOOD[name]]]) {
      assert.deepEqual(readPin({ ...GOOD, [name]: value }), { pin: null, fault: `bad ${name}` });
    }
  }
  assert.equal(readPin({ ...GOOD, v: 2 }).fault, "of a newer version");
  for (const value of [null, 1, "x", [], [GOOD]]) {
    assert.equal(readPin(value).fault, "not an object");
  }
});

test("reading any line does not throw", () => {
  fc.assert(
    fc.property(fc.anything(), fc.string(), (value, key) => {
      readPin(value);
      assert.equal(readPin({ ...GOOD, [key]: value }).pin !== null, isHarmless(key, value));
    }),
  );
});

/** The value is the same, or another valid one. */
function isHarmless(key: string, value: unknown): boolean {
  return Object.hasOwn(GOOD, key) && readPin({ ...GOOD, [key]: value }).fault === null;
}

function hex(digits: number): fc.Arbitrary<string> {
  return fc.bigInt({ min: 0n, max: 16n ** BigInt(digits) - 1n }).map((number) => {
    return number.toString(16).padStart(digits, "0");
  });
}

test("every pin is read back from its line as it was", () => {
  const pins = fc.record<Pin>({
    place: fc.string({ unit: "binary" }).map((path) => `homeagent:/${path.replaceAll("\0", "")}`),
    id: fc.string({ unit: "binary", minLength: 1 }).map((id) => id.replaceAll("\0", "0")),
    log: hex(32),
    seq: fc.maxSafeNat(),
    byteOffset: fc.maxSafeNat(),
    line: hex(64),
    kind: fc.constantFrom("genesis", "turn", "batch", "final", "rotate", "link", "recovery"),
    kid: hex(64),
    ts: fc.constantFrom("2026-02-09T04:03:50Z", "2026-02-09T04:03:50.365123Z"),
    why: fc.constantFrom("signed", "verified", "accepted", "forgotten"),
  });
  fc.assert(
    fc.property(pins, (pin) => {
      const line = JSON.parse(JSON.stringify(pinFields(pin)));
      assert.deepEqual(readPin(line), { pin: { ...pin }, fault: null });
    }),
  );
});
