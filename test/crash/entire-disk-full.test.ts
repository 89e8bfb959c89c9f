/** A session on a disk that is really full: rows, spilled strings and sidecar files. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "vitest";
import type { Durability } from "../../src/core/log/log-options.ts";
import { assertChain } from "../support/entire-rows.ts";
import { openTranscript } from "../support/entire-session.ts";
import { diskTest, mountFault, SmallDisk } from "./small-disk.ts";

const DURABILITIES: readonly Durability[] = ["disk", "os"];

diskTest.for(DURABILITIES)(
  "a full disk refuses rows whole, keeps the chain, and accepts rows again when there is space (%s)",
  async (durability) => {
    const disk = SmallDisk.mount();
    const warnings: string[] = [];
    const onWarning = (warning: string) => warnings.push(warning);
    const { transcript, rows, textOf } = await openTranscript({
      cwd: disk.path,
      durability,
      onWarning,
    });
    await transcript.user("first");
    const kept = ["first"];
    for (let cycle = 0; cycle < 3; cycle++) {
      disk.fill(30_000);
      let refused = 0;
      for (let n = 0; refused < 20; n++) {
        const text = `${cycle}.${n} ${"x".repeat((n * 677) % 9000)}`;
        try {
          await transcript.user(text);
          kept.push(text);
        } catch (error) {
          assert.equal((error as { code?: string }).code, "NO_SPACE");
          refused++;
        }
      }
      // Its file does not fit, and no part of it is left.
      const spilled = transcript.user("x".repeat(9 * 1024 * 1024));
      await assert.rejects(spilled, { code: "NO_SPACE" });
      disk.empty();
    }
    await transcript.end();
    assertChain(rows());
    assert.deepEqual(
      rows().map(({ message }) => message.content),
      kept,
    );
    assert.equal(textOf("prompt.txt"), "first");
    assert.match(textOf("context.md"), /^# Session Context\n/);
    assert.deepEqual(warnings, []);
    const left = readdirSync(dirname(transcript.path)).filter((name) => /spill|tmp/.test(name));
    assert.deepEqual(left, []);
  },
);

if (mountFault !== null) {
  test("no disk can be mounted here: the fault file system covers a full one", () => {
    assert.throws(() => SmallDisk.mount(), /no disk can be mounted/);
  });
}
