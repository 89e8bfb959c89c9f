/** Files that we have no permission to read are always reported. */

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { userPaths } from "../../src/core/base/node-paths.ts";
import { findThreadMetas } from "../../src/dialects/rye/files/threads.ts";
import { SessionVerifier } from "../../src/evidence/verify/session-verifier.ts";
import { findSession } from "../../src/sessions/list/find-session.ts";
import { findStores } from "../../src/sessions/list/find-stores.ts";
import { freshenIndex, HURRIED } from "../../src/sessions/search/freshen-index.ts";
import { SearchIndex } from "../../src/sessions/search/search-index.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** A project of two threads, and a user who is not root: root may read everything. */
class Project {
  readonly root = ownDirectory();
  readonly home = ownDirectory();

  constructor() {
    for (const id of ["hi-1", "hi-2"]) {
      const line = { ts: "2026-02-09T04:03:50Z", type: "user_message", thread_id: id, text: "x" };
      this.#put(`.ai/threads/${id}/transcript.jsonl`, { ...line, directive: "hi" });
      this.#put(`.ai/threads/${id}/thread.json`, { thread_id: id, status: "paused" });
    }
  }

  /** Makes a directory readable only by its owner, while `work` runs. */
  async without<T>(directory: string, work: () => Promise<T>): Promise<T> {
    const isRoot = process.getuid?.() === 0;
    chmodSync(join(this.root, directory), 0o000);
    if (isRoot) process.seteuid?.(65534);
    try {
      return await work();
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(join(this.root, directory), 0o755);
    }
  }

  async verdicts(...names: string[]): Promise<Record<string, string>> {
    const verifier = await SessionVerifier.open(nodeHost, {
      where: { cwd: this.root, dialect: "rye" },
      places: userPaths({ HOME: this.home }),
      onWarning: (warning) => assert.fail(warning),
    });
    const verdicts: Record<string, string> = {};
    for (const target of await verifier.find(names)) {
      verdicts[target.id ?? target.logId] = (await verifier.verify(target)).verdict;
    }
    await verifier.close();
    return verdicts;
  }

  #put(path: string, value: object): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(value)}\n`);
  }
}

test("a session that cannot be read is unreadable, by name and among all", async () => {
  const project = new Project();
  assert.deepEqual(await project.verdicts(), { "hi-1": "unsigned", "hi-2": "unsigned" });
  await project.without(".ai/threads/hi-2", async () => {
    const closed = { "hi-2": "unreadable", ".ai/threads/hi-2": "unreadable" };
    assert.deepEqual(await project.verdicts(), { "hi-1": "unsigned", ...closed });
    assert.deepEqual(await project.verdicts(".ai/threads/hi-2"), closed);
    assert.deepEqual(await project.verdicts("hi-2"), { "hi-2": "unreadable" });
  });
});

test("a store that cannot be read is listed as unreadable", async () => {
  const project = new Project();
  for (const directory of [".ai", ".ai/threads"]) {
    await project.without(directory, async () => {
      const [store] = await findStores({ cwd: project.root });
      assert.deepEqual(store, { dialect: "rye", root: project.root });
      assert.deepEqual(await project.verdicts(), { ".ai/threads": "unreadable" });
      await refusal(findSession(nodeHost, "hi-1", { cwd: project.root }), "IO_ERROR");
    });
  }
});

test("listing or searching sessions reports those that cannot be read", async () => {
  const project = new Project();
  const { root } = project;
  const warnings: string[] = [];
  const catalogPath = join(project.home, "catalog.db");
  const onWarning = (warning: string) => warnings.push(warning);
  const store = new Store(nodeHost, { dialect: "rye", root, catalogPath, onWarning });
  const index = await SearchIndex.open(join(project.home, "search.db"));
  onTestFinished(() => index.close());
  const failed: string[] = [];
  const onFailure = (id: string) => failed.push(id);

  await project.without(".ai/threads/hi-2", async () => {
    const listed = await store.list();
    assert.deepEqual(
      listed.map(({ id }) => id),
      ["hi-1"],
    );
    await freshenIndex(nodeHost, index, [store], { pace: HURRIED, onFailure });
  });
  expect(warnings).toEqual([expect.stringMatching(/^1 place could not be .*EACCES.*hi-2/)]);
  assert.deepEqual(failed, ["hi-2"]);
});

test("an id prefix is ambiguous if another session cannot be read", async () => {
  const project = new Project();
  const where = { cwd: project.root };
  await project.without(".ai/threads/hi-2", async () => {
    const { message } = await refusal(findSession(nodeHost, "hi", where), "SESSION_NOT_FOUND");
    expect(message).toContain("may be one of 2 sessions");
    assert.equal((await findSession(nodeHost, "hi-1", where)).id, "hi-1");
  });
});

test("a thread that cannot be read counts among those without a usable thread.json", async () => {
  const project = new Project();
  const metas = async () => {
    const found: [string, boolean][] = [];
    for await (const { below, meta } of findThreadMetas(project.root)) {
      found.push([below, meta !== undefined]);
    }
    return found.sort();
  };
  await project.without(".ai/threads/hi-2", async () => {
    assert.deepEqual(await metas(), [
      ["hi-1", true],
      ["hi-2", false],
    ]);
  });
  for (const directory of [".ai", ".ai/threads"]) {
    await project.without(directory, () => refusal(metas(), "IO_ERROR"));
  }
});

test.each(["rye", "homeagent", "entire"] as const)(
  "a session that cannot be created for lack of permission is refused with its path (%s)",
  async (dialect) => {
    const project = new Project();
    const store = new Store(nodeHost, { dialect, root: join(project.root, "closed") });
    mkdirSync(store.root);
    await project.without("closed", async () => {
      const { details, message } = await refusal(store.create({ agent: "a" }), "IO_ERROR");
      assert.equal(details.errno, "EACCES");
      assert.ok(details.path.startsWith(`${store.root}/`) && message.includes(details.path));
    });
  },
);

/** Readable by all: the tests' own directories are root's alone. */
function ownDirectory(): string {
  const directory = tempDirectory();
  chmodSync(directory, 0o777);
  return directory;
}
