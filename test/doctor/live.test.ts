/** Doctor next to a live writer: unfinished writes are not reported. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { startChild } from "../support/child.ts";
import { findingsIn, nodeDoctor, repairIn } from "../support/examining.ts";
import { times } from "../support/seed.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";
import { WRITER_KINDS } from "../support/writer-kinds.ts";

const LOOKS = 8 * times;

test.each(WRITER_KINDS)(
  "next to a live writer (%s) only notes are reported, at any time",
  async (_, kind) => {
    // Method: examine again and again while another process appends as fast as it can.
    const project = tempDirectory();
    const { mode, durability } = kind;
    const child = startChild(
      "test/doctor/live-writer-child.ts",
      project,
      "live-1",
      mode,
      durability,
    );
    assert.equal(await child.line(), "at work");
    // The registry is updated a moment later: the doctor waits, here until it is.
    const isSettled = async () => {
      return (await findingsIn(project, "rye")).every(({ severity }) => severity === "note");
    };
    const sleep = () => until(isSettled, "the registry is updated");
    const host = { ...nodeHost, clock: { ...nodeHost.clock, sleep } };
    const doctor = { ...nodeDoctor, host };
    for (let look = 0; look < LOOKS; look++) {
      const findings = await findingsIn(project, "rye", doctor);
      assert.deepEqual(
        findings.filter(({ severity }) => severity !== "note"),
        [],
        `look ${look}`,
      );
    }
    if (mode === "exclusive") {
      const steps = await repairIn(project, "rye", false, doctor);
      assert.deepEqual(
        steps.map((step) => (step.kind === "failed" ? step.code : step.kind)),
        ["LOG_LOCKED"],
      );
    }
    child.say("end");
    assert.equal(await child.line(), "done");
    await child.exitCode();
    assert.deepEqual(await findingsIn(project, "rye", doctor), []);
  },
);

test("after a writer was killed, its torn tail and its open calls are reported at once", async () => {
  const project = tempDirectory();
  const child = startChild(
    "test/doctor/live-writer-child.ts",
    project,
    "live-1",
    "exclusive",
    "os",
  );
  assert.equal(await child.line(), "at work");
  await child.kill();
  for (const { code } of await findingsIn(project)) {
    // Wherever it was killed; the registry and transcript.md may be behind.
    assert.match(code, /^(TORN_TAIL|MISSING_LF|DANGLING_CALL|DERIVED_(MISSING|STALE)|TEMP_LEFT)$/);
  }
  const steps = await repairIn(project);
  const left = (await findingsIn(project)).filter(({ code }) => code !== "DANGLING_CALL");
  assert.deepEqual(
    left.filter(({ severity }) => severity !== "note"),
    [],
    JSON.stringify(steps),
  );
});
