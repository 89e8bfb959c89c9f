/**
 * Which bytes are a public key.
 *
 * Method: the curve's group law, written here from its definition, finds the points of small order by
 * itself. No constant of the code under test is used to judge it.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import fc from "fast-check";
import { test } from "vitest";
import { hasProgram } from "../../../test/support/packages.ts";
import { runs } from "../../../test/support/seed.ts";
import { fpOf, isKid, kidOf, publicKeyFault, publicKeyPem } from "./ed25519-keys.ts";

const P = 2n ** 255n - 19n;
const D = mod(-121665n * inverse(121666n));
/** The order of the base point (RFC 8032, 5.1): the curve has eight times as many points. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

interface Point {
  readonly x: bigint;
  readonly y: bigint;
}

const NEUTRAL: Point = { x: 0n, y: 1n };

const SMALL_ORDER = "it is a point of small order, under which anyone can sign";
const NOT_CANONICAL = "its encoding is not canonical (y is not below the prime)";
const OFF_CURVE = "it is not a point of the curve";

const crypto = { sha256: (bytes: Uint8Array) => createHash("sha256").update(bytes).digest() };

test("the eight points of small order are refused, with either sign of x", () => {
  // L times any point is of small order; once that order is 8, its multiples are all of them.
  const points = Array.from({ length: 12 }, (_, n) => pointsAt(BigInt(n + 2))).flat();
  const generator = points.map((point) => times(point, L)).find((point) => orderOf(point) === 8);
  assert.ok(generator);
  const found = Array.from({ length: 8 }, (_, n) => times(generator, BigInt(n)));
  const orders = found.map(orderOf).sort((a, b) => a - b);
  assert.deepEqual(orders, [1, 2, 4, 4, 8, 8, 8, 8]);
  for (const { y } of found) {
    assert.equal(publicKeyFault(encode(y, 0)), SMALL_ORDER);
    assert.equal(publicKeyFault(encode(y, 1)), SMALL_ORDER);
  }
});

test("every y that is not below the prime is refused, with either sign", () => {
  for (let y = P; y < 2n ** 255n; y++) {
    assert.equal(publicKeyFault(encode(y, 0)), NOT_CANONICAL);
    assert.equal(publicKeyFault(encode(y, 1)), NOT_CANONICAL);
  }
  assert.equal(publicKeyFault(encode(P - 1n, 0)), SMALL_ORDER, "the largest y has order 2");
});

test("a y is a key exactly when it has an x, and not when its order is small", () => {
  for (let y = 2n; y < 200n; y++) {
    const expected = pointsAt(y).length > 0 ? null : OFF_CURVE;
    for (const time of ["first", "second"]) {
      assert.equal(publicKeyFault(encode(y, 0)), expected, `y = ${y}, asked a ${time} time`);
      assert.equal(publicKeyFault(encode(P - y, 1)), expected, `y = -${y}, asked a ${time} time`);
    }
  }
});

test("arbitrary 32 bytes are a key exactly when they are a point of large order", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const y = decodeY(bytes);
      const isPoint = y < P && pointsAt(y).length > 0;
      assert.equal(publicKeyFault(bytes) === null, isPoint);
    }),
    { numRuns: runs(300) },
  );
});

test("bytes of another length than 32 are not a key", () => {
  for (let length = 0; length <= 66; length++) {
    if (length === 32) continue;
    assert.equal(publicKeyFault(new Uint8Array(length).fill(9)), "it is not 32 bytes long");
  }
});

test("every generated key passes, and has the names that Node and OpenSSL compute", () => {
  for (let n = 0; n < 50; n++) {
    const { publicKey } = generateKeyPairSync("ed25519");
    const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
    assert.equal(publicKeyFault(raw), null);
    const pem = publicKey.export({ format: "pem", type: "spki" }) as string;
    assert.equal(publicKeyPem(raw), pem);
    assert.equal(fpOf(crypto, raw), createHash("sha256").update(pem).digest("hex").slice(0, 16));
    assert.equal(kidOf(crypto, raw), createHash("sha256").update(raw).digest("hex"));
    assert.ok(isKid(kidOf(crypto, raw)));
  }
});

test("the neutral point is refused as a key: in some Nodes one signature of it fits every message", () => {
  const neutral = encode(1n, 0);
  const key = createPublicKey(publicKeyPem(neutral));
  const signature = Buffer.concat([neutral, Buffer.alloc(32)]);
  const [major = 0] = process.versions.node.split(".").map(Number);
  for (const message of ["one", "another", ""]) {
    // Why small orders are refused. Node 24 and later refuse such signatures themselves.
    assert.equal(verify(null, Buffer.from(message), key, signature), major < 24);
  }
  assert.equal(publicKeyFault(neutral), SMALL_ORDER);
});

test("an id is 64 lowercase hex digits and nothing else", () => {
  const id = "0123456789abcdef".repeat(4);
  assert.ok(isKid(id));
  for (const other of ["", id.slice(1), `${id}0`, id.toUpperCase(), `${id}\n`, `../${id}`]) {
    assert.ok(!isKid(other), JSON.stringify(other));
  }
});

test.skipIf(!hasProgram("openssl"))("OpenSSL reads the PEM that we write", () => {
  const base = encode(mod(4n * inverse(5n)), 0); // The base point of RFC 8032.
  const text = execFileSync("openssl", ["pkey", "-pubin", "-noout", "-text"], {
    input: publicKeyPem(base),
    encoding: "utf8",
  });
  assert.match(text, /ED25519 Public-Key/i);
  assert.match(text, /58:66:66:66/);
});

/** The points with this y: none, or two (x and -x), or one where x is 0. */
function pointsAt(y: bigint): Point[] {
  const xSquared = mod((y * y - 1n) * inverse(D * y * y + 1n));
  const x = squareRoot(xSquared);
  if (x === null) return [];
  return x === 0n
    ? [{ x, y }]
    : [
        { x, y },
        { x: P - x, y },
      ];
}

/** RFC 8032, 5.1.3: P is 5 modulo 8. */
function squareRoot(value: bigint): bigint | null {
  const candidate = power(value, (P + 3n) / 8n);
  for (const root of [candidate, mod(candidate * power(2n, (P - 1n) / 4n))]) {
    if (mod(root * root) === value) return root;
  }
  return null;
}

/** The group law of a twisted Edwards curve with a = -1. */
function plus(one: Point, other: Point): Point {
  const product = mod(D * one.x * other.x * one.y * other.y);
  return {
    x: mod((one.x * other.y + one.y * other.x) * inverse(1n + product)),
    y: mod((one.y * other.y + one.x * other.x) * inverse(1n - product)),
  };
}

function times(point: Point, scalar: bigint): Point {
  let sum = NEUTRAL;
  let double = point;
  for (let rest = scalar; rest > 0n; rest >>= 1n) {
    if (rest & 1n) sum = plus(sum, double);
    double = plus(double, double);
  }
  return sum;
}

function orderOf(point: Point): number {
  let order = 1;
  for (let sum = point; sum.x !== 0n || sum.y !== 1n; sum = plus(sum, point)) order++;
  return order;
}

function encode(y: bigint, sign: 0 | 1): Uint8Array {
  const value = y | (BigInt(sign) << 255n);
  return Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse();
}

function decodeY(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`) & (2n ** 255n - 1n);
}

function mod(value: bigint): bigint {
  return ((value % P) + P) % P;
}

/** Euclid's algorithm; Fermat's, by a power, takes twenty times as long. */
function inverse(value: bigint): bigint {
  let [a, b, x, y] = [mod(value), P, 1n, 0n];
  while (a !== 0n) {
    const quotient = b / a;
    [a, b, x, y] = [b % a, a, y - quotient * x, x];
  }
  return mod(y);
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = mod(base);
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = mod(result * square);
    square = mod(square * square);
  }
  return result;
}
