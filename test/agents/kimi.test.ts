/** Kimi's sessions, compared with a count that does not use the reader. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { dialectNamed } from "../../src/dialects/all.ts";
import { copyOfSamples, logsWith, sampleFolders, sampleLogs } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { countsOf, put, readSession, rowsIn, storeAt } from "./read-session.ts";
import { filesIn } from "./sample.ts";

const shared = sharedFiles("samples/more/kimi");
const FILES = logsWith("kimi", shared, filesIn);
const SESSION = "sessions/wd_project_ac3b/session_1bcb";

interface Row {
  /** Not in rows of Kimi CLI. */
  readonly type?: string;
  readonly message?: {
    readonly role: string;
    readonly origin: { readonly kind: string };
    readonly type?: string;
    readonly payload?: {
      readonly type?: string;
      readonly token_usage?: { readonly input_other: number; readonly output: number };
    };
  };
  readonly event?: { readonly type: string; readonly part?: { readonly type: string } };
  readonly usage?: Record<string, number>;
}

function countRows(rows: readonly Row[]) {
  const events = rows.flatMap(({ event }) => event ?? []);
  const isPrompt = ({ message }: Row) => message?.role === "user" && message.origin.kind === "user";
  const ofCli = (...types: string[]) =>
    rows.filter(({ message }) => types.includes(message?.type ?? "")).length;
  return {
    prompts: rows.filter(isPrompt).length + ofCli("TurnBegin", "SteerInput"),
    answers: events.filter(({ part }) => part?.type === "text").length + ofCli("ContentPart"),
    calls: events.filter(({ type }) => type === "tool.call").length + ofCli("ToolCall"),
    results: events.filter(({ type }) => type === "tool.result").length + ofCli("ToolResult"),
  };
}

test("there is a sample of Kimi Code, of a subagent and of Kimi CLI", () => {
  assert.equal(sampleLogs("kimi").length, 3);
  if (shared.isThere) assert.ok(FILES.length >= 6);
});

test.each(FILES)("every row of %s is an entry, and counts agree", async (_, path) => {
  const root = tempDirectory();
  const text = readFileSync(path, "utf8");
  put(root, `${SESSION}/agents/main/wire.jsonl`, text);
  const read = await readSession("kimi", root, "wd_project_ac3b/session_1bcb/agents/main");
  const rows = rowsIn<Row>(text);
  assert.equal(read.entries.length + read.badLines, rows.length);
  assert.equal(read.badLines, 0);
  assert.deepEqual(countsOf(read), countRows(rows));
  const used = rows.flatMap(({ type, usage, message }) => {
    const { input_other: input, output } = message?.payload?.token_usage ?? {};
    if (type === "usage.record") return [[usage?.inputOther ?? 0, usage?.output ?? 0] as const];
    return input === undefined ? [] : [[input, output ?? 0] as const];
  });
  const [listed] = await storeAt("kimi", root).list();
  if (used.length === 0) return;
  assert.equal(
    listed?.inputTokens,
    used.reduce((all, [input]) => all + input, 0),
  );
  assert.equal(
    listed?.outputTokens,
    used.reduce((all, [, output]) => all + output, 0),
  );
});

test("the files next to samples give title, project and parents", async () => {
  const [folder = assert.fail()] = sampleFolders("kimi");
  const listed = await storeAt("kimi", copyOfSamples(folder)).list();
  const main = "wd_garden_5d3c/session_c8e1f6a0-2b94-4d75-9a0e-6f1d83b7c501/agents";
  const older = "b8916f6029cd752335fd3fe0d0ca5b63/e4b7a2c9-05d1-4f68-b3a6-9c2e7d104f01";
  const task = "Look for 365 in the other plans.";
  assert.deepEqual(
    listed.map(({ id, title, project, parent }) => [id, title, project, parent]).sort(),
    [
      [older, "Which beds are dry?", "/home/me/garden", null],
      [`${main}/agent-0`, task, "/home/me/garden", `${main}/main`],
      [`${main}/main`, "The plan of 2028", "/home/me/garden", null],
    ],
  );
});

if (shared.isThere) {
  test("the state file of a public session gives title, project and parents", async () => {
    const root = tempDirectory();
    const sample = (name: string) => readFileSync(join(shared.path, name));
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
}

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
