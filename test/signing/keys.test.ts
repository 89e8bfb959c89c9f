/** Keys and several processes: created concurrently, and killed in the middle of a change. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { loadOwnKeys, loadSigner, rotateKey } from "../../src/trust/keys/keys.ts";
import { startChild } from "../support/child.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const PROGRAM = "test/signing/key-child.ts";

test("concurrent processes that create the first key get the same one", async () => {
  for (let round = 0; round < 2; round++) {
    const home = tempDirectory();
    const children = Array.from({ length: 4 }, () => startChild(PROGRAM, home, "first"));
    for (const child of children) assert.equal(await child.line(), "ready");
    for (const child of children) child.say("go");
    const kids = await Promise.all(children.map((child) => child.line()));
    assert.match(kids[0] ?? "", /^[0-9a-f]{64}$/);
    assert.deepEqual(new Set(kids).size, 1);
    assert.equal((await loadOwnKeys(placesIn(home))).length, 1);
  }
});

test("a process killed while it rotates keys loses no key that it reported, and blocks no other process", async () => {
  const home = tempDirectory();
  const places = placesIn(home);
  const known = new Set([(await loadSigner(nodeHost, places)).kid]);
  for (let round = 0; round < 6; round++) {
    const child = startChild(PROGRAM, home, "rotate");
    await child.line();
    child.say("go");
    // Killed after a few, during any call.
    for (let n = 0; n <= round % 3; n++) known.add((await child.line()) ?? "");
    await child.kill();
    for (let line = await child.line(); line !== null; line = await child.line()) known.add(line);
    const kids = new Set((await loadOwnKeys(places)).map(({ kid }) => kid));
    for (const kid of known) assert.ok(kids.has(kid));
    known.add((await rotateKey(nodeHost, places)).key.kid);
  }
});

function placesIn(home: string) {
  return { keyDirectory: join(home, "keys"), trustPath: join(home, "trust.json") };
}
