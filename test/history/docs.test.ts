/** docs/history.md: each of its programs runs, and prints what the page says. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { test } from "vitest";
import { docsPage } from "../support/docs-page.ts";
import { compiledText } from "../support/program.ts";
import { historyHome } from "./home.ts";

const execute = promisify(execFile);
const { fences, block } = docsPage("history");
const source = fileURLToPath(new URL("../../src/doors/history.ts", import.meta.url));
const LINES_MAX = 10;

const named = fences.flatMap(({ info }) => /^js (\w+)$/.exec(info)?.[1] ?? []);

test.each(named)("docs/history.md: the program %s prints what the page shows", async (name) => {
  const program = block(`js ${name}`);
  assert.ok(program.trim().split("\n").length <= LINES_MAX, `${name} is longer than ten lines`);
  const { project, env } = await historyHome();
  const text = program.replace('"verbatim-log/history"', JSON.stringify(source));
  const args = [await compiledText(text)];
  const { stdout, stderr } = await execute(process.execPath, args, { cwd: project, env });
  assert.equal(stderr, "");
  const shown = fences.find(({ info }) => info === `text ${name}`);
  if (shown) assert.equal(stdout, shown.body);
});
