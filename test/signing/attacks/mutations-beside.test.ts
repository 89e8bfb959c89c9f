/**
 * Small changes of the sessions of Claude and of the SDKs, and of the checkpoints beside them
 * (mutations.ts). The code that judges them is the one that judges HomeAgent's, of which every change
 * is made (mutations-homeagent.test.ts); here it is one of some, and each bit of a byte in its turn.
 */

import { test } from "vitest";
import { Mutants } from "./mutations.ts";

/** No multiple of eight, so that it meets every bit. */
const STRIDE = 19;

for (const shape of ["claude", "sdk"]) {
  test(`a session of ${shape} with a bit of its log or its sidecar flipped is not verified`, async () => {
    const mutants = await Mutants.of(shape, 1, STRIDE);
    await mutants.refusesFlips(mutants.written.path);
    await mutants.refusesFlips(mutants.written.sidecarPath);
  });

  test(`a session of ${shape} with a byte deleted or doubled is not verified`, async () => {
    const mutants = await Mutants.of(shape, 1, STRIDE);
    await mutants.refusesDeletionsAndDoublings(mutants.written.path);
    await mutants.refusesDeletionsAndDoublings(mutants.written.sidecarPath);
  });

  test(`a session of ${shape} whose log or sidecar is cut is not verified`, async () => {
    const mutants = await Mutants.of(shape, 2, STRIDE);
    await mutants.judgesCuts(mutants.written.path, []);
    await mutants.judgesCuts(mutants.written.sidecarPath, []);
  });
}
