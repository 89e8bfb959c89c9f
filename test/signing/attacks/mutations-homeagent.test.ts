/** Every small change of a HomeAgent session and of its sidecar file (mutations.ts). */

import { test } from "vitest";
import { Mutants } from "./mutations.ts";

/** Nine verdicts on every byte. */

test("a HomeAgent session with any bit of its log or its sidecar flipped is not verified", async () => {
  const mutants = await Mutants.of("homeagent", 2);
  await mutants.refusesFlips(mutants.written.path);
  await mutants.refusesFlips(mutants.written.sidecarPath);
});

test("a HomeAgent session with any byte deleted or doubled is not verified", async () => {
  const mutants = await Mutants.of("homeagent", 2);
  await mutants.refusesDeletionsAndDoublings(mutants.written.path);
  await mutants.refusesDeletionsAndDoublings(mutants.written.sidecarPath);
});

test("a HomeAgent session whose log or sidecar is cut anywhere is not verified", async () => {
  // The checkpoints of a cut log are still in the sidecar, and show that there was more.
  const mutants = await Mutants.of("homeagent", 2);
  await mutants.judgesCuts(mutants.written.path, []);
  await mutants.judgesCuts(mutants.written.sidecarPath, []);
});
