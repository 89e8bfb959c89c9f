/**
 * Real threads that another program wrote: all of them can be listed, shown, rendered and added up.
 */

import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, type TestContext, test } from "vitest";
import { nodeHost } from "../../src/base/node-host.ts";
import { renderEntry } from "../../src/render/entry-markdown.ts";
import { Store } from "../../src/store/store.ts";
import { CliUser, jsonLines, root } from "./cli.ts";

const samples = join(root, "../shared/samples/rye");

/** A project with the real threads; without them, the test is skipped. */
function sampleProject(context: TestContext): CliUser {
  if (!existsSync(samples)) context.skip("the real threads (shared/samples/rye) are not here");
  const user = new CliUser();
  cpSync(samples, join(user.cwd, ".ai/threads"), { recursive: true });
  return user;
}

test("every line of the real threads is shown, silent or reported as bad", async (context) => {
  const user = sampleProject(context);
  const listed = await user.run(["ls", "--json"]);
  assert.deepEqual([listed.code, listed.stderr], [0, ""]);
  const sessions = jsonLines(listed.stdout);
  assert.equal(sessions.length, 36);

  const store = new Store(nodeHost, { dialect: "rye", root: user.cwd });
  let shown = 0;
  let silent = 0;
  let bad = 0;
  let lines = 0;
  for (const { id, path, lines: counted } of sessions) {
    const text = readFileSync(String(path), "utf8");
    const inFile = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
    assert.equal(counted, inFile, `${id} was counted wrongly`);
    lines += inFile;
    for await (const entry of store.session(String(id)).entries({ onBadLine: () => bad++ })) {
      if (renderEntry(entry, { thinking: true }) === "") silent++;
      else shown++;
    }
  }
  assert.equal(shown + silent + bad, lines);
  assert.ok(shown > 400 && bad === 0, `${shown} shown, ${silent} silent, ${bad} bad`);

  // The longest, the shortest and a failed one, with the real commands.
  const bySize = [...sessions].sort((a, b) => Number(a.size) - Number(b.size));
  const failed = sessions.find(({ status }) => status === "error");
  for (const session of [bySize[0], bySize.at(-1), failed]) {
    const id = String(session?.id);
    const [show, json, render] = await Promise.all([
      user.run(["show", id]),
      user.run(["show", id, "--json"]),
      user.run(["render", "--thread-id", id, "--thinking"]),
    ]);
    assert.deepEqual([show.code, json.code, render.code], [0, 0, 0], show.stderr);
    expect(show.stdout).toContain("## User");
    expect(render.stdout).toContain("## User");
    assert.equal(jsonLines(json.stdout).length, Number(session?.lines));
  }
});

test("the totals of the real threads are correct (S2-12)", async (context) => {
  const user = sampleProject(context);
  const { code, stdout, stderr } = await user.run(["stats", "--json", "--days", "36525"]);

  assert.deepEqual([code, stderr], [0, ""]);
  const sums = JSON.parse(stdout);
  assert.equal(sums.total + sums.skipped, 36);
  assert.equal(sums.skipped, 0);
  const metas = readdirSync(samples, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith("thread.json"))
    .map((path) => JSON.parse(readFileSync(join(samples, path), "utf8")));
  const spend = metas.reduce((sum, { cost }) => sum + (cost?.spend ?? 0), 0);
  assert.ok(Math.abs(sums.total_spend - spend) < 1e-9);
  assert.equal(sums.error, metas.filter(({ status }) => status === "error").length);
});
