/** The ten lines of README.md, run unchanged. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../../src/doors/index.ts";
import { findingsIn } from "../support/examining.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const IMPORT = 'import { openStore } from "verbatim-log";\n';

/** Runs them in a project; returns their output, and the session they created. */
async function runTenLines(root: string) {
  const tenLines = README.slice(README.indexOf("## Ten lines"));
  const [, found = ""] = /```js\n([\s\S]*?)```/.exec(tenLines) ?? [];
  assert.ok(found.startsWith(IMPORT));
  const printed: unknown[][] = [];
  const output = { log: (...values: unknown[]) => printed.push(values) };
  const run = new Function(
    "openStore, console",
    `return (async () => { ${found.slice(IMPORT.length)} return session; })();`,
  );
  return { printed, session: await run(() => openStore({ root }), output) };
}

test("README's ten lines print the conversation, and leave a sound session", async () => {
  const project = tempDirectory();
  const { printed, session } = await runTenLines(project);
  assert.deepEqual(printed, [
    [1, "user", [{ type: "text", text: "Hi" }]],
    [2, "assistant", [{ type: "text", text: "Hello!" }]],
  ]);
  assert.deepEqual(await findingsIn(project, "verbatim"), []);
  const store = await openStore({
    root: project,
    catalogPath: join(tempDirectory(), "catalog.db"),
  });
  expect(await store.list()).toMatchObject([{ id: session.id }]);
  await store.close();
});
