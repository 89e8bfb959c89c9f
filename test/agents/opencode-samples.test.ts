/** Samples of OpenCode: databases that it wrote, kept as SQL, and JSON files of older versions. */

import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { opencode } from "../../src/dialects/agents/opencode/dialect.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { sampleFolders } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { OpencodeDatabase } from "./opencode-database.ts";
import { entriesOf, foundLogs, place } from "./opencode-store.ts";

const shared = sharedFiles("samples/more/opencode");
const FOLDERS = sampleFolders("opencode");
/** Databases that OpenCode wrote, as SQL. */
const DUMPS = FOLDERS.filter(({ path }) => existsSync(join(path, "opencode.sql")));
/** The JSON files of older versions. */
const LAYOUTS = [
  ...FOLDERS.map(({ name, path }) => [name, join(path, "storage")] as const),
  ...(shared.isThere ? readdirSync(shared.path) : []).map((name) => {
    return [`public ${name}`, join(shared.path, name)] as const;
  }),
].filter(([, path]) => existsSync(path));

test("there is a database that OpenCode wrote, and both layouts of JSON files", () => {
  assert.ok(DUMPS.length >= 1);
  assert.ok(LAYOUTS.length >= 2);
});

interface Raw {
  readonly messages: readonly { readonly id: string; readonly session_id: string; data: string }[];
  readonly parts: readonly { readonly session_id: string; data: string }[];
}

function loaded(dump: string): { root: string; raw: Raw } {
  const { root, path } = place();
  const database = new DatabaseSync(path);
  database.exec(readFileSync(dump, "utf8"));
  const raw = {
    messages: database.prepare("SELECT id, session_id, data FROM message").all(),
    parts: database.prepare("SELECT session_id, data FROM part").all(),
  } as unknown as Raw;
  database.close();
  return { root, raw };
}

test.each(DUMPS)("every row of the database of OpenCode $name is read", async ({ path }) => {
  const { root, raw } = loaded(join(path, "opencode.sql"));
  const { logs, problems } = foundLogs(root);
  assert.deepEqual([logs.length, problems], [6, []]);
  for (const { id } of logs) {
    const entries = await entriesOf(root, id);
    const own = <Row extends { readonly session_id: string; data: string }>(rows: readonly Row[]) =>
      rows.filter(({ session_id }) => session_id === id).map(({ data }) => JSON.parse(data));
    const [messages, parts] = [own(raw.messages), own(raw.parts)];
    assert.equal(entries.length, 1 + messages.length);
    const read = entries.flatMap((entry) => entry.parts);
    const count = (type: string) => read.filter((part) => part.type === type).length;
    const has = (is: (part: (typeof parts)[number]) => boolean) => parts.filter(is).length;
    assert.equal(
      count("tool_call"),
      has(({ type }) => type === "tool"),
    );
    assert.equal(
      count("tool_result"),
      has(({ type }) => type === "tool"),
    );
    assert.equal(
      count("text"),
      has(({ type }) => type === "text"),
    );
    assert.equal(
      count("reasoning"),
      has(({ type }) => type === "reasoning"),
    );
  }
});

test.each(DUMPS)(
  "OpenCode $name: sessions have the tokens of the model's answers",
  async ({ path }) => {
    const { root } = loaded(join(path, "opencode.sql"));
    const listed = await new Store(nodeHost, {
      dialect: "opencode",
      root,
      catalogPath: join(root, "catalog.db"),
    }).list();
    const tokens = listed.map(({ title, turns, ...row }) => {
      return [title, turns, row.inputTokens, row.outputTokens, row.totalTokens];
    });
    assert.deepEqual(tokens.sort(), [
      ["Count birds (@general subagent)", 1, 200, 20, 220],
      ["Trees and birds (fork #1)", 3, 2420, 164, 9880],
      ["Trees and birds", 1, 0, 0, 0],
      ["Trees and birds", 1, 200, 20, 220],
      ["Trees and birds", 2, 200_600, 930, 201_530],
      ["Trees and birds", 2, 2170, 160, 7962],
    ]);
    const child = listed.find(({ title }) => title?.startsWith("Count birds"));
    const parent = listed.find(({ id }) => id === child?.parent);
    assert.deepEqual([parent?.inputTokens, parent?.project], [200, "/home/dev/project"]);
    const texts = await Promise.all(
      listed.map(async ({ id }) => {
        const parts = (await entriesOf(root, id)).flatMap((entry) => entry.parts);
        return { parts, said: parts.flatMap((part) => (part.type === "text" ? part.text : [])) };
      }),
    );
    const edited = texts.find(({ said }) => said.includes("Three.") && !said.includes("No."));
    assert.deepEqual(edited?.said, [
      '"Put the linden first in trees.txt. The picture shows the tree."',
      'Called the Read tool with the following input: {"filePath":"/home/dev/project/picture.png"}',
      "Image read successfully",
      "I look at the file.",
      "The linden is first now; `missing.txt` does not exist.",
      '"How many trees are there now?"',
      "Three.",
    ]);
    const errors = edited?.parts.flatMap((part) =>
      part.type === "tool_result" ? [part.error] : [],
    );
    const missing = "File not found: /home/dev/project/missing.txt";
    assert.deepEqual(errors, [null, null, missing, null]);
    const long = listed.find(({ inputTokens }) => inputTokens === 200_600);
    const summaries = (await entriesOf(root, long?.id ?? "")).filter(
      ({ saidBy }) => saidBy === "summary",
    );
    expect(summaries).toMatchObject([
      { parts: [{ type: "text", text: "The well is deep and old." }] },
    ]);
  },
);

test.each(LAYOUTS)("JSON files of %s are read, every row of them", async (_, layout) => {
  const { root } = place();
  cpSync(layout, join(root, "storage"), { recursive: true });
  const { logs, problems } = foundLogs(root);
  assert.deepEqual([logs.length, problems], [1, []]);
  const entries = await entriesOf(root, logs[0]?.id ?? "");
  const rows = readdirSync(join(root, "storage"), { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => JSON.parse(readFileSync(join(file.parentPath, file.name), "utf8")));
  const count = (is: (row: Record<string, unknown>) => boolean) => rows.filter(is).length;
  const parts = entries.flatMap((entry) => entry.parts);
  assert.equal(
    entries.length,
    count((row) => "role" in row || "projectID" in row),
  );
  assert.equal(
    entries.filter((e) => e.role === "user").length,
    count((r) => r.role === "user"),
  );
  assert.equal(
    parts.filter(({ type }) => type === "tool_call" || type === "text").length,
    count(({ type }) => type === "tool" || type === "text"),
  );
  assert.equal(
    parts.filter(({ type }) => type === "tool_result").length,
    count(({ type }) => type === "tool"),
  );
  assert.equal(opencode.naming.idAt(opencode.naming.logPath(logs[0]?.id ?? "")), logs[0]?.id);
});

test("a session that OpenCode copied into its database is listed once", () => {
  const { root, path } = place();
  const byHand = FOLDERS.find(({ name }) => name === "by-hand")?.path ?? "";
  cpSync(join(byHand, "storage"), join(root, "storage"), { recursive: true });
  const database = new OpencodeDatabase(path);
  database.session("ses_trees");
  database.message("ses_trees", "m1", 1, { role: "user" }, []);
  database.message("ses_trees", "m2", 2, { role: "user" }, []);
  assert.deepEqual(
    foundLogs(root).logs.map(({ id }) => id),
    ["ses_trees"],
  );
  database.close();
});
