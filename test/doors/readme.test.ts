/** The ten lines of README.md, run as they stand there. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../../src/index.ts";
import { readThreadMeta, ThreadTelemetry } from "../../src/rye.ts";
import { findingsIn } from "../support/examining.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const IMPORT = 'import { openStore } from "verbatim-log";\n';

/** Runs them on a project; answers what they print, and the session that they made. */
async function runTenLines(project: string) {
  const tenLines = README.slice(README.indexOf("## Ten lines"));
  const [, found = ""] = /```js\n([\s\S]*?)```/.exec(tenLines) ?? [];
  assert.ok(found.startsWith(IMPORT) && found.includes('root: "."'));
  const program = found.slice(IMPORT.length).replace('root: "."', "root");
  const printed: unknown[][] = [];
  const output = { log: (...values: unknown[]) => printed.push(values) };
  const run = new Function(
    "openStore, root, console",
    `return (async () => { ${program} return session; })();`,
  );
  return { printed, session: await run(openStore, project, output) };
}

test("README's ten lines print what was said, and leave a paused session with which all is well", async () => {
  const project = tempDirectory();
  const { printed, session } = await runTenLines(project);
  assert.deepEqual(printed, [
    [1, "user", [{ type: "text", text: "Hi" }]],
    [2, "assistant", [{ type: "text", text: "Hello!" }]],
  ]);
  assert.match(session.id, /^hello_world-\d+$/);
  expect(await readThreadMeta(project, session.id)).toMatchObject({
    directive: "hello_world",
    status: "paused",
  });
  assert.deepEqual(await findingsIn(project), []);
  expect(await new ThreadTelemetry().aggregate(project)).toMatchObject({ total: 1, skipped: 0 });
  const store = await openStore({
    dialect: "rye",
    root: project,
    catalogPath: join(tempDirectory(), "catalog.db"),
  });
  expect(await store.list()).toMatchObject([{ id: session.id, status: "paused" }]);
  await store.close();
});
