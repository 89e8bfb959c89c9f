/**
 * Small changes of the sessions of Claude and of the SDKs, and of their sidecar files (mutations.ts).
 * They are verified by the same code as HomeAgent's, for which every change is tried
 * (mutations-homeagent.test.ts); here it is a sample, which covers each bit of a byte in turn.
 */

import { test } from "vitest";
import { Mutants } from "./mutations.ts";

/** Not a multiple of eight, so that it reaches every bit. */
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
