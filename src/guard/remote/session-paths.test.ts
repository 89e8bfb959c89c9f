import assert from "node:assert/strict";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { READ_DIALECT_NAMES } from "../../dialects/registry.ts";
import { isFolder, sentFilePlaceOf, sidecarStreamOf, streamOf } from "./session-paths.ts";

const STORE = { folder: "laptop", sender: null, dialect: "homeagent", generation: null };
const SENDER = { machine: "desk-2.local", user: "ada" };
const LOG = "agents/cook/sessions/dinner.jsonl";

test("a log and its sidecar have one stream each, which names them again", () => {
  const kinds = [
    {},
    { generation: 1 },
    { generation: 12 },
    { generation: 3, isRows: true },
    { sender: SENDER },
    { sender: SENDER, generation: 3, isRows: true },
  ];
  for (const kind of kinds) {
    const store = { ...STORE, ...kind };
    for (const path of [
      LOG,
      'agents/c:o%o?k/sessions/<"d|in>.jsonl',
      "agents/ü/sessions/é.jsonl",
    ]) {
      const stream = streamOf(store, path);
      assert.deepEqual(sentFilePlaceOf(stream), { store, path, isSidecar: false });
      assert.deepEqual(sentFilePlaceOf(sidecarStreamOf(stream)), { store, path, isSidecar: true });
    }
  }
  assert.equal(streamOf(STORE, LOG), `/sessions/laptop/homeagent/${LOG}`);
  const sent = streamOf({ ...STORE, sender: SENDER }, LOG);
  assert.equal(sent, `/sessions/laptop/@desk-2.local/ada/homeagent/${LOG}`);
});

test("no other stream path becomes a file path", () => {
  const refused = [
    "/sessions",
    "/sessions/laptop",
    "/sessions/laptop/homeagent",
    `/other/laptop/homeagent/${LOG}`,

    `/sessions/../homeagent/${LOG}`,
    `/sessions/.hidden/homeagent/${LOG}`,
    `/sessions//homeagent/${LOG}`,
    `/sessions/laptop/unknown/${LOG}`,
    `/sessions/laptop/@/ada/homeagent/${LOG}`,
    `/sessions/laptop/@desk/homeagent/${LOG}`,
    `/sessions/laptop/@desk//homeagent/${LOG}`,
    `/sessions/laptop/@desk/../homeagent/${LOG}`,
    `/sessions/laptop/@../ada/homeagent/${LOG}`,
    `/sessions/laptop/@desk/@ada/homeagent/${LOG}`,
    `/sessions/laptop/desk/ada/homeagent/${LOG}`,
    `/sessions/laptop/streams/logs/a.jsonl`,
    `/sessions/laptop/homeagent@0/${LOG}`,
    `/sessions/laptop/homeagent@01/${LOG}`,
    `/sessions/laptop/homeagent.rows/${LOG}`,
    `/sessions/laptop/homeagent@1.row/${LOG}`,
    `/sessions/laptop/homeagent@/${LOG}`,
    `/sessions/laptop/HomeAgent/${LOG}`,
    "/sessions/laptop/homeagent/agents/../../x/sessions/a.jsonl",
    "/sessions/laptop/homeagent/agents/%2e%2e/sessions/a.jsonl",
    "/sessions/laptop/homeagent/agents/a%2Fb/sessions/a.jsonl",
    "/sessions/laptop/homeagent/agents/%00/sessions/a.jsonl",

    "/sessions/laptop/homeagent/agents//sessions/a.jsonl",
    "/sessions/laptop/homeagent//etc/passwd",
    "/sessions/laptop/homeagent/agents/cook/sessions/dinner.txt",
    `/sessions/laptop/homeagent/${LOG}.lock`,
    `/sessions/laptop/homeagent/${LOG}.checkpoints.checkpoints`,
    "/sessions/laptop/homeagent/agents/c%6Fok/sessions/dinner.jsonl",
    "/sessions/laptop/homeagent/%zz",
  ];
  for (const stream of refused) assert.equal(sentFilePlaceOf(stream), null, stream);
});

test("a stream path of a session is inside its store, in every dialect", () => {
  // Method: paths of hostile segments, in places where some dialect has its logs.
  const segments = [
    "..",
    ".",
    "",
    "a",
    "sessions",
    "projects",
    "agents",
    "%2e%2e",
    "x.jsonl",
    "\\",
  ];
  for (const dialect of READ_DIALECT_NAMES) {
    for (const a of segments) {
      for (const b of segments) {
        for (const c of segments) {
          const path =
            sentFilePlaceOf(`/sessions/laptop/${dialect}/${a}/${b}/${c}`)?.path ?? "fine";
          if (/\/\.{0,2}\/|\\/.test(`/${path}/`)) assert.fail(`${dialect}: ${path}`);
        }
      }
    }
  }
});

test("a folder is one plain segment of at most 64 characters", () => {
  for (const folder of ["a", "laptop-1", "ada.example.com", "A_b", "x".repeat(64)]) {
    assert.ok(isFolder(folder), folder);
  }
  for (const folder of [
    "",
    ".",
    "..",
    ".a",
    "a..b",
    "a/b",
    "a b",
    "é",
    "-a",
    "a.",
    "x".repeat(65),
  ]) {
    assert.ok(!isFolder(folder), folder);
  }
});

test("a log that is named like a sidecar is not sent", () => {
  thrownRefusal(() => streamOf(STORE, `${LOG}.checkpoints`), "BAD_ID");
});
