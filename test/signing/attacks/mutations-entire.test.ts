/** Every small change of an Entire session (mutations.ts). */

import { test } from "vitest";
import { Mutants } from "./mutations.ts";

/** Nine verdicts on every byte. */

test("an Entire session with any bit flipped is not verified", async () => {
  const mutants = await Mutants.of("entire", 1);
  await mutants.refusesFlips(mutants.written.path);
});

test("an Entire session with any byte deleted or doubled is not verified", async () => {
  const mutants = await Mutants.of("entire", 1);
  await mutants.refusesDeletionsAndDoublings(mutants.written.path);
});

test("an Entire session cut anywhere verifies only without a pin and just after a checkpoint", async () => {
  const mutants = await Mutants.of("entire", 2);
  const { path } = mutants.written;
  await mutants.judgesCuts(path, mutants.checkpointEnds(path));
});
