/** A witness that is killed at any call that changes the disk: durable before it answers. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { compiledProgram } from "../support/program.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { Witnessing } from "../support/witnessing.ts";

const KILLS_MAX = 60;

test("a witness killed at any step has the old record or the new one, and answered only after the new one was synced", async () => {
  const own = new Witnessing();
  assert.equal((await (await own.open()).add(Buffer.from(own.request(0, 4)))).status, 200);
  const path = compiledProgram("test/support/witness-child.ts");
  const preload = fileURLToPath(new URL("../support/kill-at.mjs", import.meta.url));
  const sizes = new Set<string>();
  for (let killAt = 1; ; killAt++) {
    assert.ok(killAt < KILLS_MAX, "it never ends");
    const home = tempDirectory();
    cpSync(own.home, home, { recursive: true });
    const request = join(home, "request");
    writeFileSync(request, own.request(4, 9));
    const ran = spawnSync(process.execPath, ["--import", preload, path, home, request], {
      env: { PATH: process.env.PATH, KILL_AT: String(killAt) },
      encoding: "utf8",
    });
    const again = await new Witnessing(own.log, home).open();
    const { status, text } = await again.add(Buffer.from(own.request(0, 9)));
    assert.equal(status, 409, `killed at ${killAt}: ${text}`);
    sizes.add(text);
    assert.match(text, /^[49]\n$/, `killed at ${killAt}`);
    const isAnswered = ran.stdout.includes("answered 200");
    if (isAnswered) assert.equal(text, "9\n");
    // Whatever was left, the client can continue.
    assert.equal((await again.add(Buffer.from(own.request(Number(text), 9)))).status, 200);
    if (ran.signal === null) {
      assert.ok(isAnswered, ran.stderr);
      break;
    }
  }
  assert.deepEqual([...sizes].sort(), ["4\n", "9\n"]);
});
