/** Every small change of a rye thread in the flat envelope (mutations.ts). */

import { test } from "vitest";
import { Mutants } from "./mutations.ts";

/** Some verdicts on every byte. */

test("a rye thread in the flat envelope with any bit flipped is not verified", async () => {
  const mutants = await Mutants.of("rye-flat", 2);
  await mutants.refusesFlips(mutants.written.path);
});

test("a rye thread in the flat envelope with any byte deleted or doubled is not verified", async () => {
  const mutants = await Mutants.of("rye-flat", 2);
  await mutants.refusesDeletionsAndDoublings(mutants.written.path);
});

test("a rye thread in the flat envelope cut anywhere verifies only without a pin and just after a checkpoint", async () => {
  const mutants = await Mutants.of("rye-flat", 2);
  const { path } = mutants.written;
  await mutants.judgesCuts(path, mutants.checkpointEnds(path));
});
