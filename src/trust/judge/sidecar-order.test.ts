import assert from "node:assert/strict";
import { test } from "vitest";
import { SidecarOrder } from "./inspect-sidecar.ts";

/** C: a checkpoint, N: one of a newer version, 0: a line with NULs, x: any other. */
function kindsOf(lines: string): string {
  const order = new SidecarOrder();
  const claims = { C: "checkpoint", N: "newer" } as const;
  return [...lines]
    .map((line) => order.kindOf(claims[line as "C" | "N"] ?? null, line === "0"))
    .map((kind) => kind[0])
    .join("");
}

test("NULs in a sidecar are a torn end only if nothing but newer checkpoints and NULs follows", () => {
  assert.equal(kindsOf("CCC"), "ccc");
  assert.equal(kindsOf("CC00"), "cctt");
  assert.equal(kindsOf("C0C"), "ctf");
  assert.equal(kindsOf("C0C0"), "ctff");
  assert.equal(kindsOf("Cx0C"), "cffc");
  assert.equal(kindsOf("CN0N"), "cntn");
});
