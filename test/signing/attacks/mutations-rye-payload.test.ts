/** Every small change of a rye thread in the payload envelope (mutations.ts). */

import { test } from "vitest";
import { Mutants } from "./mutations.ts";

/** Nine verdicts on every byte. */

test("a rye thread in the payload envelope with any bit flipped is not verified", async () => {
  const mutants = await Mutants.of("rye-payload", 1);
  await mutants.refusesFlips(mutants.written.path);
});

test("a rye thread in the payload envelope with any byte deleted or doubled is not verified", async () => {
  const mutants = await Mutants.of("rye-payload", 1);
  await mutants.refusesDeletionsAndDoublings(mutants.written.path);
});

test("a rye thread in the payload envelope cut anywhere verifies only without a pin and just after a checkpoint", async () => {
  const mutants = await Mutants.of("rye-payload", 2);
  const { path } = mutants.written;
  await mutants.judgesCuts(path, mutants.checkpointEnds(path));
});
