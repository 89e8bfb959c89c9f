import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { BUNDLE_LIMITS } from "../../core/base/limits.ts";
import { BLOCK_BYTES, memberHeader, paddingAfter, readHeader } from "./bundle-archive.ts";

const { memberBytesMax, memberNameMax } = BUNDLE_LIMITS;
const name = fc.stringMatching(/^[\w./-]{1,100}$/);
const bytes = fc.integer({ min: 0, max: memberBytesMax });

test("a header reads back as written, and with any bit changed it is refused", () => {
  fc.assert(
    fc.property(name, bytes, fc.nat(BLOCK_BYTES * 8 - 1), (name, bytes, bit) => {
      const header = memberHeader(name, bytes);
      assert.deepEqual(readHeader(header), { name, bytes });
      header[bit >> 3] = (header[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.equal(readHeader(header), null);
    }),
    { numRuns: 500 },
  );
});

test("a member and its name may be as long as a header can say, and not longer", () => {
  const longest = "a".repeat(memberNameMax);
  assert.deepEqual(readHeader(memberHeader(longest, memberBytesMax)), {
    name: longest,
    bytes: memberBytesMax,
  });
  thrownRefusal(() => memberHeader("a", memberBytesMax + 1), "BUNDLE_TOO_LARGE");
  thrownRefusal(() => memberHeader(`${longest}a`, 0), "BUNDLE_TOO_LARGE");
});

test("members end on whole blocks", () => {
  for (let bytes = 0; bytes < 2 * BLOCK_BYTES; bytes++) {
    assert.equal((bytes + paddingAfter(bytes)) % BLOCK_BYTES, 0);
    assert.ok(paddingAfter(bytes) < BLOCK_BYTES);
  }
});
