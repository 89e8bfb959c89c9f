/** Kimi's sessions, from real files, compared with a count that does not use the reader. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { dialectNamed } from "../../src/dialects/all.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { countsOf, put, readSession, rowsIn, storeAt } from "./read-session.ts";

const samples = sharedFiles("samples/more/kimi", "sample files", "tests that read Kimi's");
const SESSION = "sessions/wd_project_ac3b/session_1bcb";

interface Row {
  readonly type: string;
  readonly message?: { readonly role: string; readonly origin: { readonly kind: string } };
  readonly event?: { readonly type: string; readonly part?: { readonly type: string } };
  readonly usage?: Record<string, number>;
}

function countRows(rows: readonly Row[]) {
  const events = rows.flatMap(({ event }) => event ?? []);
  const isPrompt = ({ message }: Row) => message?.role === "user" && message.origin.kind === "user";
  return {
    prompts: rows.filter(isPrompt).length,
    answers: events.filter(({ part }) => part?.type === "text").length,
    calls: events.filter(({ type }) => type === "tool.call").length,
    results: events.filter(({ type }) => type === "tool.result").length,
  };
}

test.runIf(samples.isThere)("every row of the samples is an entry, and counts agree", async () => {
  const names = readdirSync(samples.path).filter((name) => name.endsWith(".jsonl"));
  assert.ok(names.length >= 3);
  for (const name of names) {
    const root = tempDirectory();
    const text = readFileSync(join(samples.path, name), "utf8");
    put(root, `${SESSION}/agents/main/wire.jsonl`, text);
    const read = await readSession("kimi", root, "wd_project_ac3b/session_1bcb/agents/main");
    const rows = rowsIn<Row>(text);
    assert.equal(read.entries.length + read.badLines, rows.length);
    assert.equal(read.badLines, 0);
    assert.deepEqual(countsOf(read), countRows(rows), name);
    const used = rows.filter(({ type }) => type === "usage.record").map(({ usage }) => usage);
    const sum = (key: string) => used.reduce((all, usage) => all + (usage?.[key] ?? 0), 0);
    const [listed] = await storeAt("kimi", root).list();
    if (used.length === 0) continue;
    assert.equal(listed?.inputTokens, sum("inputOther"));
    assert.equal(listed?.outputTokens, sum("output"));
  }
});

test.runIf(samples.isThere)("the state file gives title, project and parents", async () => {
  const root = tempDirectory();
  const sample = (name: string) => readFileSync(join(samples.path, name));
  put(root, `${SESSION}/agents/main/wire.jsonl`, sample("assistant_tools.jsonl"));
  put(root, `${SESSION}/agents/agent-0/wire.jsonl`, sample("subagent_agent-0.jsonl"));
  put(root, `${SESSION}/state.json`, sample("assistant_tools.state.json"));
  const listed = await storeAt("kimi", root).list();
  const [project, main] = [
    "/private/tmp/as-agent-lab/kimi/project",
    "wd_project_ac3b/session_1bcb",
  ];
  assert.deepEqual(
    listed.map(({ id, project, parent, model }) => [id, project, parent, model]).sort(),
    [
      [`${main}/agents/agent-0`, project, `${main}/agents/main`, "kimi-k2.7-code"],
      [`${main}/agents/main`, project, null, "kimi-k2.7-code"],
    ],
  );
  assert.equal(listed.find(({ parent }) => parent === null)?.title, "hi");
});

test("sessions of Kimi CLI are listed with the directory that its registry has", async () => {
  const root = tempDirectory();
  const name = createHash("md5").update("/home/me/app").digest("hex");
  const turn = {
    timestamp: 1785612812.8,
    message: { type: "TurnBegin", payload: { user_input: "Hi" } },
  };
  const metadata = { type: "metadata", protocol_version: "1.10" };
  const text = [metadata, turn].map((row) => `${JSON.stringify(row)}\n`).join("");
  put(root, `sessions/${name}/s1/wire.jsonl`, text);
  put(root, `sessions/${name}/s1/context.jsonl`, "{}\n");
  put(root, `sessions/${name}/s1/subagents/a/wire.jsonl`, text);
  put(root, "kimi.json", JSON.stringify({ work_dirs: [7, { path: "/home/me/app" }] }));
  const listed = await storeAt("kimi", root).list();
  assert.deepEqual(
    listed.map(({ id, title, project, parent }) => [id, title, project, parent]).sort(),
    [
      [`${name}/s1`, "Hi", "/home/me/app", null],
      [`${name}/s1/subagents/a`, "Hi", "/home/me/app", `${name}/s1`],
    ],
  );
});

test("the directories are those that Kimi Code and Kimi CLI use", () => {
  const at = (environment: Record<string, string>) =>
    dialectNamed("kimi").program?.roots({ environment, home: "/home/me", platform: "linux" });
  assert.deepEqual(at({}), ["/home/me/.kimi-code", "/home/me/.kimi"]);
  assert.deepEqual(at({ KIMI_CODE_HOME: "/k", KIMI_SHARE_DIR: "/s" }), ["/k", "/s"]);
});
