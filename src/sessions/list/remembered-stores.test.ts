/** Each test has a state directory of its own, and a temporary directory in which its stores are not. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test, vi } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { storesPath } from "../../core/base/node-paths.ts";
import { Store } from "../store/store.ts";
import { rememberedStores, rememberStore, STORES_MAX } from "./remembered-stores.ts";

const page = docsPage("formats/stores");

let at: string;

beforeEach(() => {
  at = tempDirectory();
  mkdirSync(join(at, "tmp"));
  vi.stubEnv("XDG_STATE_HOME", join(at, "state"));
  vi.stubEnv("TMPDIR", join(at, "tmp"));
  vi.stubEnv("VERBATIM_REMEMBER", "1");
  vi.stubEnv("CI", "");
});

afterEach(() => vi.unstubAllEnvs());

/** A directory to record in. */
function project(name: string): string {
  const root = join(at, name);
  mkdirSync(root, { recursive: true });
  return root;
}

const roots = () => rememberedStores().map(({ root }) => root);
const lines = () => readFileSync(storesPath(), "utf8").split("\n").slice(0, -1);

test("a store is remembered once, by its real path, in a file that only its user can read", async () => {
  const root = project("a");
  symlinkSync(root, join(at, "link"));
  for (const path of [root, join(at, "link"), root]) await rememberStore("verbatim", path);
  await rememberStore("rye", root);
  assert.deepEqual(rememberedStores(), [
    { dialect: "verbatim", root },
    { dialect: "rye", root },
  ]);
  assert.equal(statSync(storesPath()).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(storesPath())).mode & 0o777, 0o700);
});

test("a line is as on the format's page, and the example there is read", async () => {
  const root = project("a");
  const example: { root: string } = JSON.parse(page.block("jsonl store"));
  mkdirSync(dirname(storesPath()), { recursive: true });
  writeFileSync(storesPath(), `${JSON.stringify({ ...example, root })}\n`);
  assert.deepEqual(roots(), [root]);
  await rememberStore("verbatim", project("b"));
  assert.deepEqual(Object.keys(JSON.parse(lines()[1] ?? "")), Object.keys(example));
});

test("a session that is opened to append makes its store remembered, and reading does not", async () => {
  const root = project("a");
  const remembering = new Store(nodeHost, { root });
  assert.equal(await remembering.has("s1"), false);
  await remembering.close();
  assert.ok(!existsSync(storesPath()));
  const session = await remembering.create({ id: "s1" });
  await session.append({ kind: "message", role: "user", parts: [{ type: "text", text: "Hi" }] });
  await remembering.close();
  assert.deepEqual(roots(), [root]);
});

test("nothing is remembered with remember: false, VERBATIM_REMEMBER=0, in CI, or in the temporary directory", async () => {
  const root = project("a");
  const store = new Store(nodeHost, { root, remember: false });
  await (await store.create()).close();
  await store.close();
  await rememberStore("verbatim", join(at, "tmp"));
  await rememberStore("verbatim", project("tmp/below"));
  for (const [name, value] of [
    ["VERBATIM_REMEMBER", "0"],
    ["CI", "true"],
  ] as const) {
    vi.stubEnv(name, value);
    await rememberStore("verbatim", root);
    vi.stubEnv(name, "");
  }
  assert.ok(!existsSync(storesPath()));
  for (const value of ["false", "0"]) {
    vi.stubEnv("CI", value);
    await rememberStore("verbatim", project(value));
  }
  assert.equal(roots().length, 2);
  vi.stubEnv("VERBATIM_REMEMBER", "0");
  assert.deepEqual(roots(), [], "nor is the file read");
});

test("a store whose directory is gone is forgotten; lines of later versions stay", async () => {
  const [gone, stays] = [project("gone"), project("stays")];
  for (const root of [gone, stays]) await rememberStore("verbatim", root);
  const later = '{"v":2,"at":"","dialect":"verbatim","root":"/x"}';
  appendFileSync(storesPath(), `${later}\nno JSON\n`);
  rmSync(gone, { recursive: true });
  assert.deepEqual(roots(), [stays]);
  assert.equal(lines().length, 4);
  await rememberStore("verbatim", project("new"));
  assert.deepEqual(roots(), [stays, join(at, "new")]);
  assert.deepEqual(lines().slice(1, 3), [later, "no JSON"]);
  assert.ok(!readFileSync(storesPath(), "utf8").includes(gone));
  assert.deepEqual(readdirSync(dirname(storesPath())), ["stores.jsonl"]);
});

test("at most so many stores are remembered, and the oldest are forgotten", async () => {
  mkdirSync(dirname(storesPath()), { recursive: true });
  const all = Array.from({ length: STORES_MAX }, (_, n) => project(`p/${n}`));
  const text = (root: string) => `${JSON.stringify({ v: 1, at: "", dialect: "verbatim", root })}\n`;
  writeFileSync(storesPath(), all.map(text).join(""));
  assert.equal(roots().length, STORES_MAX);
  await rememberStore("verbatim", project("one-more"));
  assert.equal(lines().length, STORES_MAX);
  assert.deepEqual(roots(), [...all.slice(1), join(at, "one-more")]);
});

test("an incomplete last line costs only itself", async () => {
  const [first, second] = [project("a"), project("b")];
  await rememberStore("verbatim", first);
  appendFileSync(storesPath(), '{"v":1,"at":"2026-11');
  await rememberStore("verbatim", second);
  assert.deepEqual(roots(), [first, second]);
});

test("a file that others can change, or that cannot be written, is not used, and recording works", async () => {
  await rememberStore("verbatim", project("a"));
  chmodSync(storesPath(), 0o666);
  await rememberStore("verbatim", project("b"));
  assert.equal(lines().length, 1);
  assert.deepEqual(roots(), []);
  vi.stubEnv("XDG_STATE_HOME", join(at, "file"));
  writeFileSync(join(at, "file"), "");
  const store = new Store(nodeHost, { root: project("c") });
  const session = await store.create();
  await session.append({ kind: "message", role: "user", parts: [{ type: "text", text: "Hi" }] });
  await store.close();
  assert.deepEqual(roots(), []);
});
