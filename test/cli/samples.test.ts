/** Threads that another program wrote: all of them can be listed, shown, rendered and added up. */

import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { ThreadTelemetry } from "../../src/doors/rye.ts";
import { renderEntry } from "../../src/sessions/render/entry-markdown.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { RYE_THREADS } from "../support/rye-threads.ts";
import { CliUser, jsonLines } from "./cli.ts";

/** How many threads there are, and more lines than these are shown. */
const FACTS = { own: { threads: 5, shown: 25 }, public: { threads: 36, shown: 400 } };

/** A project with the threads. */
function projectWith(threads: string): CliUser {
  const user = new CliUser();
  cpSync(threads, join(user.cwd, ".ai/threads"), { recursive: true });
  return user;
}

test.each(RYE_THREADS)(
  "every line of the %s threads is shown, silent or reported as bad",
  async (name, threads) => {
    const user = projectWith(threads);
    const listed = await user.run(["ls", "--json"]);
    assert.deepEqual([listed.code, listed.stderr], [0, ""]);
    const sessions = jsonLines(listed.stdout);
    assert.equal(sessions.length, FACTS[name].threads);

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
    assert.ok(
      shown > FACTS[name].shown && bad === 0,
      `${shown} shown, ${silent} silent, ${bad} bad`,
    );

    // The longest, the shortest and a failed one, with the real commands.
    const bySize = [...sessions].sort((a, b) => Number(a.size) - Number(b.size));
    const failed = sessions.find(({ status }) => status === "error");
    for (const session of [bySize[0], bySize.at(-1), failed]) {
      const id = String(session?.id);
      const [show, json, render] = await Promise.all([
        user.run(["show", id]),
        user.run(["show", id, "--json"]),
        user.run(["export", id, "--thinking"]),
      ]);
      assert.deepEqual([show.code, json.code, render.code], [0, 0, 0], show.stderr);
      expect(show.stdout).toContain("## User");
      expect(render.stdout).toContain("## User");
      assert.equal(jsonLines(json.stdout).length, Number(session?.lines));
    }
  },
);

test.each(RYE_THREADS)(
  "the totals of the %s threads are correct (S2-12)",
  async (name, threads) => {
    const { cwd } = projectWith(threads);
    const sums = await new ThreadTelemetry().aggregate(cwd, 36_525);
    assert.equal(sums.total + sums.skipped, FACTS[name].threads);
    assert.equal(sums.skipped, 0);
    const metas = readdirSync(threads, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith("thread.json"))
      .map((path) => JSON.parse(readFileSync(join(threads, path), "utf8")));
    const spend = metas.reduce((sum, { cost }) => sum + (cost?.spend ?? 0), 0);
    assert.ok(Math.abs(sums.total_spend - spend) < 1e-9);
    assert.equal(sums.error, metas.filter(({ status }) => status === "error").length);
  },
);
