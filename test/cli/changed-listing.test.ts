/**
 * A kept listing is brought up to date when few sessions changed: the output is the same as without
 * any cache, and SQLite is not loaded.
 */

import assert from "node:assert/strict";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { test } from "vitest";
import { CliUser } from "./cli.ts";

const SESSIONS = 1000;
const START_S = 1_700_000_000;
const loadedModules = fileURLToPath(new URL("./loaded-modules.mjs", import.meta.url));

/** Sessions of two programs with the same times, so that ids and programs decide the order. */
class Histories {
  readonly user = new CliUser();
  readonly paths = Array.from({ length: SESSIONS }, (_, n) => this.#pathOf(n));
  readonly #cache = join(this.user.home, ".cache/verbatim");

  constructor() {
    for (const [n, path] of this.paths.entries()) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, n % 2 === 0 ? "" : codexStart(n));
      this.grow(n, `prompt ${n}`, n % 7);
    }
  }

  grow(n: number, text: string, atS: number): void {
    const path = this.paths[n] ?? "";
    appendFileSync(path, n % 2 === 0 ? claudeRow(n, text, atS) : codexRow(text, atS));
    utimesSync(path, START_S + atS, START_S + atS);
  }

  async list(env: Record<string, string> = {}): Promise<string> {
    const { code, stdout, stderr } = await this.user.run(["ls", "--json"], { env });
    assert.deepEqual([code, stderr], [0, ""]);
    return stdout;
  }

  /** Without any cache; with the kept listing as before. */
  async listAnew(): Promise<string> {
    const path = join(this.#cache, "last-listing");
    const kept = readFileSync(path);
    rmSync(this.#cache, { recursive: true });
    const listed = await this.list();
    writeFileSync(path, kept, { mode: 0o600 });
    return listed;
  }

  /** What is kept of sessions at work. */
  kept(): string {
    return readFileSync(join(this.#cache, "last-listing.summaries"), "utf8");
  }

  #pathOf(n: number): string {
    const id = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
    const claude = `.claude/projects/-home-me-app${n % 3}/${id}.jsonl`;
    const codex = `.codex/sessions/2026/01/0${1 + (n % 5)}/rollout-2026-01-01T00-00-00-${id}.jsonl`;
    return join(this.user.home, n % 2 === 0 ? claude : codex);
  }
}

const isoAt = (atS: number) => new Date((START_S + atS) * 1000).toISOString();

function claudeRow(n: number, text: string, atS: number): string {
  const row = { type: "user", uuid: `${n}-${atS}`, timestamp: isoAt(atS), cwd: "/home/me/app" };
  return `${JSON.stringify({ ...row, message: { role: "user", content: text } })}\n`;
}

function codexStart(n: number): string {
  const payload = { id: `${n}`, timestamp: isoAt(0), cwd: "/home/me/app" };
  return `${JSON.stringify({ timestamp: isoAt(0), type: "session_meta", payload })}\n`;
}

function codexRow(text: string, atS: number): string {
  const payload = { type: "message", role: "user", content: [{ type: "input_text", text }] };
  return `${JSON.stringify({ timestamp: isoAt(atS), type: "response_item", payload })}\n`;
}

test("a listing after few sessions changed is the same as one without a cache, and needs no SQLite", async () => {
  const histories = new Histories();
  const first = await histories.list();
  assert.equal(first.split("\n").length, SESSIONS + 1);
  const forged = `","dialect":"codex","root":"/","path":"\u202e\u0085\n${"x".repeat(300)}`;
  const growths = fc.uniqueArray(
    fc.record({
      n: fc.nat({ max: SESSIONS - 1 }),
      text: fc.oneof(fc.string({ unit: "binary" }), fc.constant(forged)),
      atS: fc.nat({ max: 20 }),
    }),
    { selector: ({ n }) => n, minLength: 1, maxLength: 8 },
  );
  const to = join(histories.user.home, "loaded");
  const env = {
    NODE_OPTIONS: `--disable-warning=DEP0205 --import ${loadedModules}`,
    LOADED_TO: to,
  };
  const samples = fc.sample(growths, 4);
  for (const some of [
    [{ n: 0, text: forged, atS: 0 }],
    [{ n: 999, text: "", atS: 30 }],
    ...samples,
  ]) {
    for (const { n, text, atS } of some) histories.grow(n, text, atS);
    rmSync(to, { force: true });
    const changed = await histories.list(env);
    assert.doesNotMatch(
      readFileSync(to, "utf8"),
      /@photostructure|NativeModule sqlite/,
      JSON.stringify(some),
    );
    assert.equal(changed, await histories.listAnew(), JSON.stringify(some));
  }
});

test("a session that grows between listings is continued, and listed as without a cache", async () => {
  const histories = new Histories();
  await histories.list();
  for (const [n, text] of [
    [0, "one"],
    [1, "two"],
    [0, "three"],
    [0, "four"],
    [1, "five"],
  ] as const) {
    histories.grow(n, text, 30 + n);
    await histories.list();
  }
  assert.match(histories.kept(), /"to":\d+,"mark":/);
  histories.grow(0, "six", 40);
  const last = await histories.list();
  assert.equal(last, await histories.listAnew());
  assert.match(last.split("\n")[0] ?? "", /"lines":5\b/);
});

test("after many sessions changed, or one came or went, the catalog is used, and nothing is missed", async () => {
  const histories = new Histories();
  await histories.list();
  for (let n = 0; n < 9; n++) histories.grow(n, "more", 10 + n);
  const many = await histories.list();
  assert.equal(many, await histories.listAnew());
  assert.match(many.split("\n")[0] ?? "", /000000000008/);
  rmSync(histories.paths[8] ?? "");
  histories.grow(7, "more", 40);
  const fewer = await histories.list();
  assert.equal(fewer, await histories.listAnew());
  assert.equal(fewer.split("\n").length, SESSIONS);
});
