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
  "test/examples.test.ts",
  "test/e2e/html-page.test.ts",
  "test/overload/mutants.test.ts",
  "test/cli/completions.test.ts",
  "test/server/conformance.test.ts",
  "test/e2e/viewer/accessibility.test.ts",
  "test/cli/streams.test.ts",
  "test/resume/fork.test.ts",
  "test/e2e/viewer/badge.test.ts",
  "test/signing/attacks/table.test.ts",
  "test/server/probes.test.ts",
  "test/crash/streams-mutants.test.ts",
  "test/crash/signing-every-call.test.ts",
  "test/crash/kill-9.test.ts",
  "test/e2e/viewer/proof.test.ts",
  "test/signing/read-once.test.ts",
  "test/cli/hook-spool.test.ts",
  "test/doors/capture-dialects.test.ts",
  "test/crash/signing-acknowledged.test.ts",
  "test/signing/attacks/mutations-rye-flat.test.ts",
  "src/resume/room.test.ts",
  "test/signing/races.test.ts",
  "test/crash/shared.test.ts",
  "test/signing/killed-turns.test.ts",
  "test/architecture.test.ts",
  "src/streams/journal/backup.test.ts",
  "test/guard/killed.test.ts",
  "test/docs-types.test.ts",
  "test/signing/kill-9.test.ts",
  "test/crash/signing-mutants.test.ts",
  "test/server/sessions/list.test.ts",
  "test/doctor/live.test.ts",
  "test/e2e/viewer/pages.test.ts",
  "test/resume/samples.test.ts",
  "test/server/sessions/entries.test.ts",
  "test/resume/every-prefix.test.ts",
  "test/resume/handoff/hostile.test.ts",
  "src/torture/signed-subject.test.ts",
  "test/crash/streams-kill.test.ts",
  "test/signing/json-interchange.test.ts",
  "test/signing/attacks/mutations-homeagent.test.ts",
  "src/model/entry-check.test.ts",
  "test/cli/start.test.ts",
  "test/crash/signed-streams-every-call.test.ts",
  "test/cli/html.test.ts",
  "test/overload/overload.test.ts",
  "test/signing/rotation.test.ts",
  "src/torture/streams-subject.test.ts",
  "test/agents/mutated.test.ts",
  "test/server/restore-page.test.ts",
  "test/fuzz/http.test.ts",
  "test/signing/transcripts-python.test.ts",
  "test/crash/heads.test.ts",
  "test/resume/handoff/handoff.test.ts",
  "test/crash/streams-every-call.test.ts",
  "test/crash/mutants.test.ts",
  "src/signing/heads/head-file.test.ts",
  "test/signing/attacks/mutations-rye-payload.test.ts",
  "src/streams/local-store-recovery.test.ts",
  "test/cli/doctor.test.ts",
  "src/dialects/entire/spill.test.ts",
  "test/server/sessions/live.test.ts",
  "test/cli/show.test.ts",
  "viewer/src/proof/check.test.ts",
  "test/signing/json-python.test.ts",
  "test/doors/capture-docs.test.ts",
  "test/conformance/acknowledged.test.ts",
  "src/integrations/claude-agent/session-store.test.ts",
  "test/golden/golden.test.ts",
  "test/signing/rotated-read.test.ts",
  "test/resume/handoff/other-dialect.test.ts",
  "test/e2e/viewer/agents.test.ts",
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
