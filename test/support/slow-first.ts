/**
 * Slow first: the order in which test files run. A slow file that starts last would keep one process
 * busy while the others are idle. The runner remembers durations, but only on a machine that ran the
 * tests before. A file that is missing here costs only a few seconds.
 */

import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Seven seconds and more, with several processes on two cores, slowest first. */
const SLOW = [
  "test/examples.test.ts",
  "test/viewer/badge-cases.test.ts",
  "test/server/conformance-postgres.test.ts",
  "test/e2e/viewer/home.test.ts",
  "test/package.test.ts",
  "test/server/conformance.test.ts",
  "test/postgres/copy.test.ts",
  "test/e2e/viewer/reading.test.ts",
  "test/e2e/viewer/pages.test.ts",
  "test/conformance/postgres-store.test.ts",
  "test/e2e/viewer/rows.test.ts",
  "test/cli/streams.test.ts",
  "test/e2e/site.test.ts",
  "test/e2e/viewer/agents.test.ts",
  "test/proving/python.test.ts",
  "test/e2e/viewer/proof.test.ts",
  "test/cli/copy.test.ts",
  "test/server/sessions/facets.test.ts",
  "test/cli/completions.test.ts",
  "test/guides.test.ts",
  "test/e2e/viewer/hostile.test.ts",
  "test/resume/fork.test.ts",
  "test/e2e/viewer/accessibility.test.ts",
  "test/server/probes.test.ts",
  "test/overload/overload.test.ts",
  "test/cli/start.test.ts",
  "test/e2e/html-page.test.ts",
  "test/e2e/viewer/share.test.ts",
  "test/erase/every-call.test.ts",
  "test/agents/rows.test.ts",
  "test/e2e/viewer/live.test.ts",
  "test/cli/html.test.ts",
  "test/e2e/viewer/usage.test.ts",
  "test/e2e/viewer/copy.test.ts",
  "test/e2e/viewer/orientation.test.ts",
  "test/fuzz/http.test.ts",
  "test/cli/hook-spool.test.ts",
  "test/cli/changed-listing.test.ts",
  "test/cli/own-process.test.ts",
  "test/docs-types.test.ts",
  "test/e2e/viewer/badge.test.ts",
  "test/postgres/restarted.test.ts",
  "test/postgres/copy-refused.test.ts",
  "test/e2e/viewer/outline.test.ts",
  "test/cli/first-contact.test.ts",
  "test/signing/attacks/table.test.ts",
  "test/server/sessions/list.test.ts",
  "test/torture/signed-subject.test.ts",
  "viewer/src/proof/check.test.ts",
  "src/dialects/entire/spill.test.ts",
  "test/erase/erase.test.ts",
  "test/crash/shared.test.ts",
  "test/resume/handoff/other-dialect.test.ts",
  "test/e2e/viewer/threads.test.ts",
  "src/sessions/render/html/page.test.ts",
  "test/resume/handoff/handoff.test.ts",
  "test/cli/doctor.test.ts",
  "test/doors/capture-dialects.test.ts",
  "test/agents/mutated.test.ts",
  "test/guard/cli.test.ts",
  "test/cli/trust.test.ts",
  "test/server/sessions/entries.test.ts",
  "test/signing/rotation.test.ts",
  "test/crash/streams-mutants.test.ts",
  "test/signing/races.test.ts",
  "test/e2e/viewer/gone.test.ts",
  "test/crash/signing-acknowledged.test.ts",
  "test/disclosure/histories.test.ts",
  "test/remote/delivery.test.ts",
  "test/signing/attacks/behaviour.test.ts",
  "test/signing/json-python.test.ts",
  "test/signing/read-once.test.ts",
  "test/integrations/mcp.test.ts",
  "test/resume/handoff/hostile.test.ts",
  "test/share/postgres.test.ts",
  "test/cli/serve.test.ts",
  "src/streams/files/local-store-recovery.test.ts",
];

/** The last one has most files, so that all processes end at about the same time. */
const PROJECTS = ["alone", "browser", "files", "shared"];

/**
 * All files of a project one after another: a process is used again only if the next file is of
 * the same project, and a new one takes seconds to load all modules.
 */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return PROJECTS.flatMap((name) =>
      sorted.filter(({ project }) => project.name === name).sort((a, b) => rank(a) - rank(b)),
    );
  }
}

function rank({ moduleId }: TestSpecification): number {
  const index = SLOW.findIndex((path) => moduleId.endsWith(`/${path}`));
  return index === -1 ? SLOW.length : index;
}
