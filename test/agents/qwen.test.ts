/** Qwen Code's sessions, from real files, compared with a count that does not use the reader. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { PROMPTS, SESSIONS } from "../../scripts/agent-samples/scenarios.mjs";
import { dialectNamed } from "../../src/dialects/all.ts";
import type { VerifiedEntry } from "../../src/evidence/verify/verified-entries.ts";
import { linesTakenBack } from "../../src/resume/retractions.ts";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { docsPage } from "../support/docs-page.ts";
import { copyOfSamples, logsWith, sampleFolders, sampleLogs } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { countsOf, put, readSession, rowsIn, storeAt } from "./read-session.ts";
import { filesIn } from "./sample.ts";

const shared = sharedFiles("samples/more/qwen");
const SESSION = "019f0000-0000-7000-8000-000000000001";

interface Row {
  readonly type?: string;
  readonly subtype?: string;
  readonly message?: { parts: Record<string, unknown>[] };
}

function countRows(rows: readonly Row[]) {
  const parts = rows.flatMap(({ message }) => message?.parts ?? []);
  const isText = (part: Record<string, unknown>) => Boolean(part.text) && part.thought !== true;
  const isAnswer = ({ type, message }: Row) =>
    type === "assistant" && (message?.parts.some(isText) ?? false);
  return {
    prompts: rows.filter(({ type, subtype }) => type === "user" && !subtype).length,
    answers: rows.filter(isAnswer).length,
    calls: parts.filter(({ functionCall }) => functionCall).length,
    results: parts.filter(({ functionResponse }) => functionResponse).length,
  };
}

const LOGS = logsWith("qwen", shared, (folder) => filesIn(folder));

test.each(LOGS)("every row of %s is an entry, and counts agree", async (_name, file) => {
  const root = tempDirectory();
  const text = readFileSync(file, "utf8");
  put(root, `projects/-home-me/chats/${SESSION}.jsonl`, text);
  const read = await readSession("qwen", root, `-home-me/chats/${SESSION}`);
  const rows = rowsIn<Row>(text);
  assert.equal(read.entries.length + read.badLines, rows.length);
  assert.equal(read.badLines, 0);
  assert.deepEqual(countsOf(read), countRows(rows));
});

test("there are enough samples", () => {
  assert.ok(sampleLogs("qwen").length >= 6);
  if (shared.isThere) assert.ok(filesIn(shared.path).length >= 4);
});

test.each(sampleFolders("qwen"))(
  "sessions of $name are listed as Qwen Code wrote them",
  async (folder) => {
    const root = copyOfSamples(folder);
    const listed = await storeAt("qwen", root).list();
    const facts = listed.map(({ id, title, project, branch, parent }) => ({
      name: Object.entries(SESSIONS).find(([, session]) => id.endsWith(session))?.[0] ?? "agent",
      facts: [title, project, branch, parent],
    }));
    const place = ["/home/dev/project", "main"];
    const delegating = `-home-dev-project/chats/${SESSIONS.subagent}`;
    assert.deepEqual(Object.fromEntries(facts.map((each) => [each.name, each.facts])), {
      tools: [PROMPTS.tools, ...place, null],
      subagent: [PROMPTS.delegated, ...place, null],
      agent: [PROMPTS.child, ...place, delegating],
      image: [`${PROMPTS.picture} @well.png`, ...place, null],
      compaction: [PROMPTS.remember, ...place, null],
      failure: [PROMPTS.refused, ...place, null],
    });
  },
);

const row = (uuid: string, parentUuid: string | null, more: object = {}) => {
  const message = { role: "user", parts: [{ text: uuid }] };
  return { uuid, parentUuid, sessionId: SESSION, type: "user", cwd: "/home/me", message, ...more };
};
const lines = (...rows: object[]) => rows.map((each) => `${JSON.stringify(each)}\n`).join("");

test("sessions, archived ones and subagents are listed with project, branch and parent", async () => {
  const root = tempDirectory();
  const first = row("Hi", null, { gitBranch: "main" });
  put(root, `projects/p/chats/${SESSION}.jsonl`, lines(first));
  put(root, `projects/p/chats/${SESSION}.ledger.jsonl`, "{}\n");
  put(root, `projects/p/chats/archive/${SESSION.replaceAll("0", "1")}.jsonl`, lines(first));
  put(
    root,
    `projects/p/subagents/${SESSION}/agent-a.jsonl`,
    lines({ ...first, isSidechain: true }),
  );
  const listed = await storeAt("qwen", root).list();
  assert.deepEqual(
    listed
      .map(({ id, title, project, branch, parent }) => [id, title, project, branch, parent])
      .sort(),
    [
      [`p/chats/${SESSION}`, "Hi", "/home/me", "main", null],
      [`p/chats/archive/${SESSION.replaceAll("0", "1")}`, "Hi", "/home/me", "main", null],
      [`p/subagents/${SESSION}/agent-a`, "Hi", "/home/me", "main", `p/chats/${SESSION}`],
    ],
  );
});

test("rows before a rewind do not count", async () => {
  const root = tempDirectory();
  const rewind = row("r", "a", { type: "system", subtype: "rewind", message: null });
  const rows = [row("a", null), row("b", "a"), row("c", "b"), rewind, row("d", "r")];
  put(root, `projects/p/chats/${SESSION}.jsonl`, lines(...rows));
  const { entries } = await readSession("qwen", root, `p/chats/${SESSION}`);
  async function* verified() {
    for (const entry of entries) yield entry as unknown as VerifiedEntry;
  }
  assert.deepEqual([...(await linesTakenBack(dialectNamed("qwen").turns, verified))], [2, 3]);
});

test("the directory is the one that Qwen Code uses", () => {
  const at = (environment: Record<string, string>) =>
    dialectNamed("qwen").program?.roots({ environment, home: "/home/me", platform: "darwin" });
  assert.deepEqual(at({}), ["/home/me/.qwen"]);
  assert.deepEqual(at({ QWEN_HOME: "/q" }), ["/q"]);
  assert.deepEqual(at({ QWEN_HOME: "/q", QWEN_RUNTIME_DIR: "/r" }), ["/r"]);
});

test("a session whose name is no UUID is read, and the logs next to it are not", async () => {
  const user = new CliUser();
  const folder = join(user.home, ".qwen/projects/-home-me-app/chats");
  const rows = docsPage("formats/qwen").block("jsonl qwen");
  put(folder, "garden-plan.jsonl", rows);
  put(folder, "garden-plan.ledger.jsonl", rows);
  const sessions = jsonLines((await user.run(["ls", "--json"])).stdout);
  assert.deepEqual(
    sessions.map(({ name }) => name),
    ["garden-plan"],
  );
  assert.match((await user.run(["show", "garden-plan"])).stdout, /Read the file\./);
});

test("a command that failed is a failure, although the call of the tool was a success", async () => {
  const [folder = assert.fail()] = sampleFolders("qwen");
  const { entries } = await readSession(
    ...(["qwen", copyOfSamples(folder), `-home-dev-project/chats/${SESSIONS.tools}`] as const),
  );
  const errors = entries.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "tool_result" ? [part.error] : [])),
  );
  assert.deepEqual(
    errors.map((error) => error?.slice(0, 14) ?? null),
    [null, null, null, "exit code 3", "File not found", null],
  );
});
