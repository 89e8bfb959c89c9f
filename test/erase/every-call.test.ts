/**
 * An erasure that dies before each of its disk calls, and one whose power is cut there: afterwards
 * the session is wholly the old or wholly the new one, verified, and of the new one nothing is left.
 * With VERBATIM_DEEP=1 every call is tried.
 */

import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { loadOwnFiles } from "../../src/evidence/doctor/own-names.ts";
import { finishErasure } from "../../src/evidence/erase/carry-out.ts";
import { type Erasing, erase } from "../../src/evidence/erase/erase.ts";
import { carryingOut, sessionErasing } from "../../src/evidence/erase/session-erasure.ts";
import { matching } from "../../src/evidence/redact/text-matches.ts";
import { UserJudging } from "../../src/evidence/verify/user-judging.ts";
import { verifyLog } from "../../src/trust/judge/verify.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { FailingMachine } from "../crash/failing-machine.ts";
import { isTried } from "../support/seed.ts";
import { answered, SHAPES, SigningUser, said, sayable, turnOf } from "../support/signing-user.ts";
import { WatchedFiles } from "../support/watched-files.ts";
import type { Process } from "../torture/fault-files.ts";
import { keys, SignedMachine, signer } from "../torture/signed-machine.ts";

const VALUE = "quixote90417zebra";
const ENTRIES = [
  ...turnOf("good morning"),
  ...turnOf(`I am ${VALUE}`),
  said(VALUE),
  answered("bye"),
];
/** One call in so many is tried in a run. */
const EVERY = 7;

function filesIn(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    return statSync(path).isDirectory() ? filesIn(path) : [path];
  });
}

/** The same files, without the locks that this process, which is not dead, still holds. */
function again(directory: string): void {
  cpSync(directory, `${directory}.again`, { recursive: true });
  rmSync(directory, { recursive: true });
  renameSync(`${directory}.again`, directory);
}

test.each(Object.entries(SHAPES))(
  "an erasure that dies before any of its calls leaves the old or the new session (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const { target } = await user.write(shape, ENTRIES);
    const onWarning = () => {};
    const options = { places: user.places, onWarning };
    const kept = `${target.root}.kept`;
    const state = user.places.stateDirectory;
    cpSync(target.root, kept, { recursive: true });
    cpSync(state, `${state}.kept`, { recursive: true });
    const verdict = async () => {
      const judging = await UserJudging.load(nodeHost, options);
      return verifyLog(nodeHost, target, await judging.optionsFor(target));
    };
    const { log: oldLog } = await verdict();
    /** Erases; every call from this one on fails, as for a process that was killed. */
    const eraseUntil = async (dies: number) => {
      for (const path of [target.root, state]) {
        rmSync(path, { recursive: true });
        cpSync(path === state ? `${state}.kept` : kept, path, { recursive: true });
      }
      const disk = new WatchedFiles();
      let calls = 0;
      disk.before = ({ call }) => {
        if (call === "close") return undefined; // The kernel closes what a dead process had open.
        if (calls++ < dies) return undefined;
        throw Object.assign(new Error("dead"), { code: "EIO" });
      };
      const asked = { ...options, finder: matching([VALUE]), reason: "a test" };
      const isDone = await sessionErasing(disk.host, target, asked)
        .then((erasing) => erase({ ...erasing, clean: async () => {} }))
        .then(
          () => true,
          () => false,
        );
      return { isDone, calls };
    };
    const whole = await eraseUntil(Number.POSITIVE_INFINITY);
    assert.ok(whole.isDone);
    const seen = { old: 0, new: 0, recovered: 0 };
    for (let dies = 0; dies < whole.calls; dies++) {
      if (!isTried(dies, EVERY)) continue;
      await eraseUntil(dies);
      again(target.root);
      const path = join(target.root, target.logId);
      const isInterrupted = existsSync(`${path}.erase`);
      const between = await verdict();
      const expected = isInterrupted ? /^unreadable$/ : /^(verified|incomplete)$/;
      assert.match(between.verdict, expected, `call ${dies}: ${JSON.stringify(between.findings)}`);
      if (isInterrupted) assert.equal(between.findings[0]?.code, "NEEDS_RECOVERY");
      const carrying = { ...carryingOut(nodeHost, target, options), clean: async () => {} };
      assert.equal(await finishErasure(carrying), isInterrupted, `call ${dies}`);
      const after = await verdict();
      assert.match(
        after.verdict,
        /^(verified|incomplete)$/,
        `call ${dies}: ${JSON.stringify(after)}`,
      );
      const holding = filesIn(target.root).filter((file) => readFileSync(file).includes(VALUE));
      if (after.log === oldLog) {
        seen.old++;
        assert.ok(holding.length > 0 && !isInterrupted, `call ${dies}`);
      } else {
        seen.new++;
        if (isInterrupted) seen.recovered++;
        assert.deepEqual(
          [after.verdict, after.freshness, holding],
          ["verified", "match", []],
          `call ${dies}`,
        );
        assert.ok(after.from?.log === oldLog);
      }
      assert.deepEqual(
        filesIn(target.root).filter((file) => file.includes(".erase")),
        [],
      );
    }
    assert.ok(seen.old > 0 && seen.recovered > 0, JSON.stringify(seen));
  },
);

/** A session on a simulated disk, and an erasure in a process of that machine. */
class Machine {
  readonly failing = new FailingMachine(1, 512, null);
  readonly signed: SignedMachine;
  #cutAt = Number.POSITIVE_INFINITY;
  calls = 0;

  constructor(dialect: string) {
    this.signed = new SignedMachine(dialect, this.failing.machine, () => {});
    const { options } = this.failing.machine;
    const plan: typeof options.plan = () => {
      if (this.failing.isSpared) return null;
      if (this.calls++ !== this.#cutAt) return null;
      this.failing.machine.powerCut();
      return { errno: "EIO" };
    };
    Object.assign(options, { plan });
  }

  /** Runs until it is done, or its process is dead. */
  async whileAlive<T>(process: Process, work: Promise<T>): Promise<T | null> {
    let over: { readonly value: T | null } | null = null;
    work.then(
      (value) => {
        over = { value };
      },
      () => {
        over = { value: null };
      },
    );
    while (over === null && process.isAlive) await this.failing.scheduler.tick();
    return (over as { readonly value: T | null } | null)?.value ?? null;
  }

  async record(): Promise<void> {
    this.failing.isSpared = true;
    const process = this.failing.machine.startProcess();
    const session = this.signed.session(process, this.signed.heads(process), WAY);
    const { dialect } = this.signed.log;
    const entries = sayable(dialect === "entire" ? "homeagent" : dialect, ENTRIES);
    for (const entry of entries) await this.whileAlive(process, session.append(entry));
    await this.whileAlive(process, session.close());
    process.kill();
    this.failing.isSpared = false;
  }

  async erase(cutAt: number): Promise<void> {
    this.#cutAt = cutAt;
    const process = this.failing.machine.startProcess();
    await this.whileAlive(process, erase(this.erasing(process)));
    process.kill();
    this.failing.machine.powerCut();
    this.failing.isSpared = true;
  }

  async recover(): Promise<boolean | null> {
    const process = this.failing.machine.startProcess();
    return this.whileAlive(process, finishErasure(this.erasing(process)));
  }

  erasing(process: Process): Erasing {
    const target = { ...this.signed.log, id: this.signed.log.id ?? "" };
    const heads = this.signed.heads(process);
    const place = `${target.dialect}:${target.root}`;
    const { host } = process;
    return {
      host,
      target,
      heads,
      signer,
      finder: matching([VALUE]),
      reason: "a test",
      verify: async () => {
        const remembered = await heads.remembered({ place, id: target.id });
        return { crypto: nodeCrypto, keys, remembered };
      },
      names: async () => ({ place, others: [], leadsTo: null }),
      clean: async () => {},
      nowMs: () => 1.8e12,
      newId: () => "00000000-0000-4000-8000-00000000ffff",
      salt: Buffer.alloc(32, 7),
      trust: () => Promise.reject(new Error("not used")),
      onWarning: () => {},
      link: async (log) => {
        const session = this.signed.session(process, heads, WAY);
        await session.addCheckpoints(async () => [{ linkTo: { id: target.id, log } }]);
        await session.release();
      },
    };
  }

  /** What every file of the session's directory holds. */
  contents(): string {
    const { root, logId } = this.signed.log;
    const path = `${root}/${logId}`;
    const directory = path.slice(0, path.lastIndexOf("/"));
    const { machine } = this.failing;
    return machine
      .names(directory)
      .map((name) => machine.contents(directory, name)?.toString("latin1"))
      .join("\n");
  }
}

const WAY = { mode: "exclusive", durability: "disk", isEveryAppend: false } as const;

test.each(["rye", "entire", "homeagent"])(
  "an erasure whose power is cut at any call leaves the old or the new session (%s)",
  async (dialect) => {
    await loadOwnFiles();
    const sound = new Machine(dialect);
    await sound.record();
    const before = await sound.failing.scheduler.finish(sound.signed.verify());
    await sound.erase(Number.POSITIVE_INFINITY);
    const done = await sound.failing.scheduler.finish(sound.signed.verify());
    assert.equal(done.from?.log, before.log, JSON.stringify(done));
    const seen = { old: 0, recovered: 0 };
    for (let cutAt = 0; cutAt < sound.calls; cutAt++) {
      if (!isTried(cutAt, EVERY)) continue;
      const machine = new Machine(dialect);
      await machine.record();
      const { log: oldLog } = await machine.failing.scheduler.finish(machine.signed.verify());
      await machine.erase(cutAt);
      const wasIntended = await machine.recover();
      const after = await machine.failing.scheduler.finish(machine.signed.verify());
      const told = `call ${cutAt}: ${JSON.stringify(after.findings)}`;
      assert.match(after.verdict, /^(verified|incomplete)$/, told);
      const isHeld = machine.contents().includes(VALUE);
      assert.equal(isHeld, after.log === oldLog, told);
      if (isHeld) seen.old++;
      else if (wasIntended) seen.recovered++;
    }
    assert.ok(seen.old > 0 && seen.recovered > 0, JSON.stringify(seen));
  },
);
