/**
 * Removals and restorations that die before each of their disk calls: the next process finishes or
 * undoes them, so that a session is wholly there or wholly gone, and of a purged one no byte is left.
 * With VERBATIM_DEEP=1 every call is tried.
 */

import assert from "node:assert/strict";
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import type { Host } from "../../src/core/base/host.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";
import {
  finishRemovals,
  removeGroup,
  restoreFiles,
  settleTrash,
} from "../../src/evidence/removal/removals.ts";
import { type OwnSession, removingIn } from "../../src/evidence/removal/session-removal.ts";
import { Trash } from "../../src/evidence/removal/trash.ts";
import { UserJudging } from "../../src/evidence/verify/user-judging.ts";
import { verifyLog } from "../../src/trust/judge/verify.ts";
import { isTried } from "../support/seed.ts";
import { SHAPES, SigningUser, said, turnOf } from "../support/signing-user.ts";
import { WatchedFiles } from "../support/watched-files.ts";

const VALUE = "quixote90417zebra";
const EVERY = 5;
const NOW = Date.parse("2026-11-19T10:00:00Z");
const LATER = NOW + 31 * 86_400_000;
const onWarning = (warning: string) => assert.fail(warning);

/** Files below a directory but locks, with their bytes. */
function filesIn(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => statSync(join(directory, name)).isFile());
  const kept = files.filter((name) => !/\.lock$|\.gitignore$|registry/.test(name)).sort();
  return Object.fromEntries(
    kept.map((name) => [name, readFileSync(join(directory, name), "latin1")]),
  );
}

/** A signed session that can be put back as it was, with its pins. */
class Subject {
  readonly user: SigningUser;
  readonly session: OwnSession;
  readonly #before: string;

  private constructor(session: OwnSession, user: SigningUser) {
    this.user = user;
    this.session = session;
    this.#before = `${session.root}.before`;
  }

  static async written(shape: (typeof SHAPES)[string]): Promise<Subject> {
    const user = new SigningUser();
    const { target, path } = await user.write(shape, [...turnOf("good morning"), said(VALUE)]);
    const subject = new Subject({ ...target, path }, user);
    subject.save();
    return subject;
  }

  /** From now on `again` returns to this state. */
  save(): void {
    this.#copy(this.session.root, this.#before);
    this.#copy(this.user.places.stateDirectory, `${this.#before}.state`);
  }

  again(): void {
    this.#copy(this.#before, this.session.root);
    this.#copy(`${this.#before}.state`, this.user.places.stateDirectory);
  }

  #copy(from: string, to: string): void {
    rmSync(to, { recursive: true, force: true });
    cpSync(from, to, { recursive: true });
  }

  async remove(host: Host, days: number | null) {
    const removing = await this.removing(host);
    const until = days === null ? null : new Date(NOW + days * 86_400_000).toISOString();
    const stated = { at: new Date(NOW).toISOString(), by: "ada@laptop", reason: "a test", until };
    const request = { ...this.session, ...stated, notes: [], begin: async () => {} };
    const { removals } = await removeGroup(removing, [request]);
    await finishRemovals(removing, removals);
  }

  async restore(host: Host) {
    const [found] = await Trash.read(nodeHost, this.session.root);
    await restoreFiles(await this.removing(host), found?.entry?.key ?? "");
  }

  async removing(host: Host) {
    return { ...(await removingIn(host, this.session.root, onWarning)), clean: async () => {} };
  }

  async settle(nowMs: number) {
    await settleTrash(await this.removing(nodeHost), nowMs, onWarning);
  }

  async verdict(): Promise<string> {
    const judging = await UserJudging.load(nodeHost, { places: this.user.places, onWarning });
    const { id, dialect, root } = this.session;
    const logId = this.session.path.slice(root.length + 1);
    const target = { id, dialect, root, logId };
    return (await verifyLog(nodeHost, target, await judging.optionsFor(target))).verdict;
  }

  get files() {
    return filesIn(this.session.root);
  }
}

/** Runs `work` on a disk whose calls fail from number `dies` on, as for a killed process. */
async function until(dies: number, work: (host: Host) => Promise<unknown>) {
  const disk = new WatchedFiles();
  let calls = 0;
  disk.before = ({ call }) => {
    if (call === "close") return undefined; // The kernel closes what a dead process had open.
    if (calls++ < dies) return undefined;
    throw Object.assign(new Error("dead"), { code: "EIO" });
  };
  const isDone = await work(disk.host).then(
    () => true,
    () => false,
  );
  return { isDone, calls };
}

const isTrash = (name: string) => name.startsWith(".verbatim/trash/");

test.each(Object.entries(SHAPES))(
  "a removal that dies at any call is undone or finished, and its trash is emptied (%s)",
  async (_name, shape) => {
    const subject = await Subject.written(shape);
    const before = subject.files;
    for (const days of [30, null]) {
      subject.again();
      const whole = await until(Infinity, (host) => subject.remove(host, days));
      assert.ok(whole.isDone);
      const seen = { undone: 0, finished: 0 };
      for (let dies = 0; dies < whole.calls; dies++) {
        if (!isTried(dies, EVERY)) continue;
        subject.again();
        await until(dies, (host) => subject.remove(host, days));
        await subject.settle(NOW);
        const { files } = subject;
        const verdict = await subject.verdict();
        const told = `days ${days}, call ${dies}: ${verdict} ${Object.keys(files).join()}`;
        if (verdict !== "deleted") {
          seen.undone++;
          assert.match(verdict, /^(verified|incomplete)$/, told);
          assert.deepEqual(files, before, told);
          continue;
        }
        seen.finished++;
        assert.ok(Object.keys(files).every(isTrash), told);
        assert.equal(JSON.stringify(files).includes(VALUE), days !== null, told);
        await subject.settle(LATER);
        assert.deepEqual(subject.files, {}, told);
      }
      assert.ok(seen.undone > 0 && seen.finished > 0, JSON.stringify(seen));
    }
  },
);

test.each(Object.entries(SHAPES))(
  "a restoration that dies at any call leaves the session in the trash or in its place (%s)",
  async (_name, shape) => {
    const subject = await Subject.written(shape);
    const before = subject.files;
    await subject.remove(nodeHost, 30);
    subject.save();
    const whole = await until(Infinity, (host) => subject.restore(host));
    assert.ok(whole.isDone);
    const seen = { trash: 0, back: 0 };
    for (let dies = 0; dies < whole.calls; dies++) {
      if (!isTried(dies, EVERY)) continue;
      subject.again();
      await until(dies, (host) => subject.restore(host));
      // The log is last: who finds it finds its signatures, too.
      const isThere = statSync(subject.session.path, { throwIfNoEntry: false }) !== undefined;
      if (isThere) assert.deepEqual({ ...subject.files, ...before }, subject.files, `call ${dies}`);
      await subject.settle(NOW);
      const verdict = await subject.verdict();
      const told = `call ${dies}: ${verdict}`;
      if (verdict === "deleted") {
        seen.trash++;
        await subject.restore(nodeHost);
      } else seen.back++;
      assert.deepEqual(subject.files, before, told);
      assert.match(await subject.verdict(), /^(verified|incomplete)$/, told);
    }
    assert.ok(seen.trash > 0 && seen.back > 0, JSON.stringify(seen));
  },
);

test("a session that was continued after its removal was interrupted stays as it is", async () => {
  const subject = await Subject.written(SHAPES.homeagent ?? { dialect: "homeagent" });
  const { path } = subject.session;
  const whole = await until(Infinity, (host) => subject.remove(host, 30));
  let tried = 0;
  for (let dies = 0; dies < whole.calls; dies++) {
    subject.again();
    await until(dies, (host) => subject.remove(host, 30));
    const entries = await Trash.read(nodeHost, subject.session.root).catch(() => []);
    const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
    if (!isThere || entries[0]?.entry?.removal.state !== "removing") continue;
    tried++;
    appendFileSync(path, '{"late":true}\n');
    const continued = Object.entries(subject.files).filter(([name]) => !isTrash(name));
    await subject.settle(NOW);
    assert.deepEqual(Object.entries(subject.files), continued, `call ${dies}`);
  }
  assert.ok(tried > 0);
});
