/**
 * Slow first: the order in which test files run. A slow file that starts last would keep one process
 * busy while the others are idle. The runner remembers durations, but only on a machine that ran the
 * tests before. A file that is missing here costs only a few seconds.
 */

import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Seven seconds and more, with three processes on two cores, slowest first. */
const SLOW = [
  "test/package.test.ts",
  "test/examples.test.ts",
  "test/e2e/viewer/home.test.ts",
  "test/server/conformance.test.ts",
  "test/postgres/copy.test.ts",
  "test/server/conformance-postgres.test.ts",
  "test/e2e/viewer/agents.test.ts",
  "test/e2e/viewer/badge-cases.test.ts",
  "test/e2e/viewer/pages.test.ts",
  "test/e2e/viewer/live.test.ts",
  "test/e2e/viewer/proof.test.ts",
  "test/e2e/viewer/reading.test.ts",
  "test/e2e/viewer/rows.test.ts",
  "test/cli/streams.test.ts",
  "test/cli/hook-spool.test.ts",
  "test/postgres/copy-refused.test.ts",
  "test/e2e/viewer/outline.test.ts",
  "test/resume/fork.test.ts",
  "test/e2e/viewer/usage.test.ts",
  "test/cli/html.test.ts",
  "test/postgres/restarted.test.ts",
  "test/server/probes.test.ts",
  "test/e2e/viewer/hostile.test.ts",
  "test/cli/completions.test.ts",
  "test/conformance/postgres-store.test.ts",
  "test/e2e/html-page.test.ts",
  "src/dialects/entire/spill.test.ts",
  "test/postgres/signing-others.test.ts",
  "test/signing/attacks/table.test.ts",
  "src/resume/room.test.ts",
  "test/signing/rotation.test.ts",
  "test/overload/mutants.test.ts",
  "test/doors/capture-dialects.test.ts",
  "test/signing/attacks/behaviour.test.ts",
  "test/fuzz/http.test.ts",
  "test/cli/start.test.ts",
  "test/resume/every-prefix.test.ts",
  "test/signing/transcripts-python.test.ts",
  "test/e2e/viewer/accessibility.test.ts",
  "viewer/src/proof/check.test.ts",
  "test/signing/checklist.test.ts",
  "test/e2e/viewer/orientation.test.ts",
  "test/signing/read-once.test.ts",
  "test/resume/handoff/other-dialect.test.ts",
  "test/agents/mutated.test.ts",
  "test/server/sessions/entries.test.ts",
  "test/e2e/viewer/threads.test.ts",
  "test/conformance/acknowledged.test.ts",
  "test/signing/races.test.ts",
  "src/torture/signed-subject.test.ts",
  "test/guard/cli.test.ts",
  "test/server/auth/auth.test.ts",
  "src/streams/journal/backup.test.ts",
  "test/signing/json-python.test.ts",
  "src/signing/heads/head-file.test.ts",
  "test/overload/overload.test.ts",
  "test/server/live.test.ts",
  "test/postgres/signing-kill-9.test.ts",
  "test/server/sessions/live.test.ts",
  "test/agents/agents.test.ts",
  "test/architecture.test.ts",
  "test/crash/streams-mutants.test.ts",
  "test/crash/signing-acknowledged.test.ts",
  "src/streams/local-store-recovery.test.ts",
  "test/e2e/viewer/badge.test.ts",
  "test/postgres/killed-servers.test.ts",
  "test/resume/handoff/handoff.test.ts",
  "test/crash/shared.test.ts",
  "test/server/auth/live.test.ts",
  "test/cli/show.test.ts",
  "src/verifying/verify-directory.test.ts",
  "src/store/session-appends.test.ts",
  "test/signing/kill-9.test.ts",
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
