/**
 * Slow first: the order in which test files run. A slow file that starts last would keep one process
 * busy while the others are idle. The runner remembers durations, but only on a machine that ran the
 * tests before. A file that is missing here costs only a few seconds.
 */

import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Five seconds and more, on two cores, slowest first. */
const SLOW = [
  "test/e2e/viewer/badge-cases.test.ts",
  "test/package.test.ts",
  "test/e2e/html-page.test.ts",
  "test/server/conformance.test.ts",
  "test/crash/streams-kill.test.ts",
  "test/crash/kill-9.test.ts",
  "test/crash/signing-acknowledged.test.ts",
  "test/overload/mutants.test.ts",
  "test/e2e/viewer/accessibility.test.ts",
  "test/e2e/viewer/badge.test.ts",
  "test/e2e/viewer/pages.test.ts",
  "test/e2e/viewer/proof.test.ts",
  "test/e2e/viewer/live.test.ts",
  "test/crash/signing-every-call.test.ts",
  "test/crash/streams-mutants.test.ts",
  "test/signing/attacks/mutations-rye-flat.test.ts",
  "src/torture/signed-subject.test.ts",
  "src/verifying/verify-directory.test.ts",
  "test/overload/overload.test.ts",
  "test/crash/signed-streams-every-call.test.ts",
  "test/crash/streams-every-call.test.ts",
  "test/crash/shared.test.ts",
  "test/signing/attacks/mutations-homeagent.test.ts",
  "test/server/probes.test.ts",
  "test/signing/killed-turns.test.ts",
  "test/signing/kill-9.test.ts",
  "src/resume/room.test.ts",
  "test/resume/handoff/hostile.test.ts",
  "test/doors/capture-dialects.test.ts",
  "src/torture/log-subject.test.ts",
  "test/cli/streams.test.ts",
  "test/cli/hook-spool.test.ts",
  "test/crash/signing-mutants.test.ts",
  "test/signing/rotation.test.ts",
  "test/signing/read-once.test.ts",
  "test/docs-types.test.ts",
  "test/resume/fork.test.ts",
  "test/architecture.test.ts",
  "test/examples.test.ts",
  "test/fuzz/http.test.ts",
  "test/signing/attacks/mutations-entire.test.ts",
  "src/capture/any-stream.test.ts",
  "test/resume/samples.test.ts",
  "test/signing/races.test.ts",
  "src/dialects/entire/spill.test.ts",
  "test/signing/attacks/table.test.ts",
  "src/streams/journal/backup.test.ts",
  "test/cli/completions.test.ts",
];

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isolated = sorted.filter(({ project }) => project.config.isolate);
    const shared = sorted.filter(({ project }) => !project.config.isolate);
    return [...slowFirst(isolated), ...slowFirst(shared)];
  }
}

function slowFirst(files: TestSpecification[]): TestSpecification[] {
  return files.sort((a, b) => rank(a) - rank(b));
}

function rank({ moduleId }: TestSpecification): number {
  const index = SLOW.findIndex((path) => moduleId.endsWith(`/${path}`));
  return index === -1 ? SLOW.length : index;
}
