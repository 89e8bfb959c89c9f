/**
 * Episode: one subject on one machine with a faulty disk, from its first open to its last crash.
 *
 * The driver of every kind of torture. It picks the next action, injects faults, kills processes
 * and cuts the power; the subject does the work and checks it. One seed decides all of it.
 */

import { VerbatimError } from "../../src/core/base/errors.ts";
import { type Call, type Fault, Machine, type Process } from "./fault-files.ts";
import { Random, Scheduler } from "./scheduler.ts";

/** Far more than any request takes. */
const TICKS_MAX = 100_000;

interface Planned {
  readonly call: Call;
  readonly fault: Fault;
  /** Calls of this kind that still succeed. */
  passes: number;
}

/** Decides which call to the disk fails next, and how. */
class FaultPlanner {
  readonly #random: Random;
  readonly #onFault: (call: Call) => void;
  #planned: Planned | null = null;
  #isDiskFull = false;

  constructor(random: Random, onFault: (call: Call) => void) {
    this.#random = random;
    this.#onFault = onFault;
  }

  get isPlanned(): boolean {
    return this.#planned !== null || this.#isDiskFull;
  }

  clear(): void {
    this.#planned = null;
    this.#isDiskFull = false;
  }

  /** Makes one of the next calls fail, or fills the disk, or frees it again. */
  planNext(): void {
    const random = this.#random;
    if (random.chance(0.2)) {
      this.#isDiskFull = !this.#isDiskFull;
      return;
    }
    const lacks = random.chance(0.3) ? 1 : 1 + random.below(200);
    const [call, fault] = random.pick<[Call, Fault]>([
      ["sync", { errno: "EIO" }],
      ["sync", { errno: "EIO" }],
      ["sync", { errno: "EIO" }],
      ["sync", { errno: "ENOSPC" }],
      ["syncDirectory", { errno: "EIO" }],
      ["write", { errno: "EIO" }],
      ["write", { errno: "EDQUOT" }],
      ["write", { lacks, caller: "returns" }],
      ["write", { lacks, caller: "dies" }],
      ["writeAt", { errno: "EIO" }],
      ["writeAt", { lacks, caller: "returns" }],
      ["writeAt", { lacks, caller: "dies" }],
      ["truncate", { errno: "EIO" }],
      ["read", { errno: "EIO" }],
      ["open", { errno: "EIO" }],
    ]);
    this.#planned = { call, fault, passes: random.below(4) };
  }

  plan(call: Call): Fault | null {
    if (this.#isDiskFull && call === "write") {
      this.#onFault(call);
      const random = this.#random;
      if (random.chance(0.5)) return { errno: "ENOSPC" };
      return { lacks: 1 + random.below(100), caller: "returns" };
    }
    if (this.#planned?.call !== call || this.#planned.passes-- > 0) return null;
    const { fault } = this.#planned;
    this.#planned = null;
    this.#onFault(call);
    return fault;
  }
}

/** A process that has the subject open to write. */
export interface Writer {
  readonly process: Process;
}

type Act = () => void | Promise<void>;

/** What is tortured. */
export interface Subject<W extends Writer> {
  /** What one step may do while a writer is open. The weights add up to 100. */
  readonly actions: readonly (readonly [weight: number, act: Act])[];
  /** An action that this step takes instead of a random one, if any. */
  urgent?(): Act | null;
  /** Opens it in one more process, checks what is there, and adds to `episode.writers`. */
  open(): Promise<void>;
  /** Compares what is on the disk with what was promised. Called after each kill and power cut. */
  check?(when: string): void | Promise<void>;
  /** The last crash is over and one writer is open: it must work, and everything must hold. */
  finish(): Promise<void>;

  /** A call failed as planned. */
  onFault?(call: Call): void;
  /** Something slow has finished, or time has passed. */
  onTick?(): void;
  /** The process of a writer has ended, however that happened. */
  onEnd?(writer: W): void;
  onPowerCut?(): void;
  /** The episode is over: release what it holds. */
  dispose?(): void;
}

export interface CommonCounts {
  openings: number;
  openingsRefused: number;
  kills: number;
  powerCuts: number;
  faults: number;
}

export interface Kind<W extends Writer, C extends CommonCounts> {
  readonly noCounts: Readonly<C>;
  readonly pageBytes: readonly number[];
  /** Called once before the first episode. */
  prepare?(): Promise<void>;
  newSubject(episode: Episode<W, C>): Subject<W>;
}

export interface Violation {
  /** `--seed` and `--steps` that repeat it. */
  readonly seed: number;
  readonly step: number;
  readonly what: string;
}

export class Episode<W extends Writer, C extends CommonCounts> {
  readonly counts: C;
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly faults: FaultPlanner;
  readonly machine: Machine;
  writers: W[] = [];
  /** No call fails while this is set: the subject is being checked. */
  isSpared = false;
  readonly #seed: number;
  readonly #subject: Subject<W>;
  readonly #violations: Violation[] = [];
  #step = 0;

  constructor(kind: Kind<W, C>, seed: number, counts: C) {
    this.#seed = seed;
    this.counts = counts;
    this.random = new Random(seed);
    this.scheduler = new Scheduler(this.random);
    this.faults = new FaultPlanner(this.random, (call) => {
      counts.faults++;
      this.#subject.onFault?.(call);
    });
    this.machine = new Machine({
      random: this.random,
      scheduler: this.scheduler,
      pageBytes: this.random.pick(kind.pageBytes),
      plan: (call) => (this.isSpared ? null : this.faults.plan(call)),
    });
    this.#subject = kind.newSubject(this);
  }

  async run(steps: number): Promise<Violation[]> {
    try {
      for (this.#step = 1; this.#step <= steps && !this.isViolated; this.#step++) {
        await this.#act();
      }
      if (!this.isViolated) await this.#lastCrash();
    } finally {
      this.#subject.dispose?.();
    }
    return this.#violations;
  }

  get isViolated(): boolean {
    return this.#violations.length > 0;
  }

  violated(what: string): void {
    this.#violations.push({ seed: this.#seed, step: this.#step, what });
  }

  anyWriter(): W {
    return this.random.pick(this.writers);
  }

  async #act(): Promise<void> {
    // Some die while they write.
    for (const writer of this.writers) if (!writer.process.isAlive) this.end(writer);
    if (this.writers.length === 0) return this.#subject.open();
    const act = this.#subject.urgent?.() ?? this.#pickAction();
    const acting = act();
    if (acting) await acting;
  }

  #pickAction(): Act {
    let left = this.random.below(100);
    for (const [weight, act] of this.#subject.actions) {
      left -= weight;
      if (left < 0) return act;
    }
    throw new TypeError("the weights of the actions add up to less than 100");
  }

  /**
   * Opens the subject in a new process. With no other writer and no fault planned or under way, that
   * must succeed; it may always fail, but only with an error of ours. Null when it failed.
   */
  async open<T>(open: (process: Process) => Promise<T>): Promise<T | null> {
    const isAlone = this.writers.length === 0;
    if (isAlone && this.random.chance(0.7)) this.faults.clear();
    const mustSucceed = isAlone && !this.faults.isPlanned && this.machine.failingSyncs === 0;
    const process = this.machine.startProcess();
    this.counts.openings++;
    const opening = open(process).then(
      (opened) => ({ opened }),
      (error: unknown) => ({ error }),
    );
    const outcome = await this.whileAlive(process, opening);
    if (outcome && "opened" in outcome) return outcome.opened;
    this.counts.openingsRefused++;
    const isOurs = outcome?.error instanceof VerbatimError || !process.isAlive;
    process.kill();
    if (mustSucceed || !isOurs) this.violated(`opening failed: ${String(outcome?.error)}`);
    return null;
  }

  /** The subject is not open in this process any more; the process still runs. */
  forget(writer: W): void {
    this.writers = this.writers.filter((other) => other !== writer);
  }

  end(writer: W): void {
    this.forget(writer);
    writer.process.kill();
    this.#subject.onEnd?.(writer);
  }

  kill(writer: W = this.anyWriter()): void | Promise<void> {
    this.counts.kills++;
    this.end(writer);
    return this.#subject.check?.("after a kill");
  }

  powerCut(): void | Promise<void> {
    this.counts.powerCuts++;
    this.machine.powerCut();
    for (const writer of this.writers) this.end(writer);
    this.#subject.onPowerCut?.();
    return this.#subject.check?.("after a power cut");
  }

  /** Lets one slow thing finish, or time pass. */
  async tick(): Promise<void> {
    await this.scheduler.tick();
    this.#subject.onTick?.();
  }

  async ticks(max: number): Promise<void> {
    for (let n = this.random.below(max); n >= 0; n--) await this.tick();
  }

  /**
   * What the work resolves to; null when its process dies first, because then it never may. Work of
   * a living process that does not end is a violation.
   */
  async whileAlive<T>(process: Process, work: Promise<T>): Promise<T | null> {
    let done: { readonly value: T } | null = null;
    void work.then((value) => {
      done = { value };
    });
    for (let ticks = 0; done === null && process.isAlive; ticks++) {
      if (ticks === TICKS_MAX) {
        this.violated(`a request was not answered after ${TICKS_MAX} ticks`);
        process.kill();
      }
      await this.tick();
    }
    return (done as { readonly value: T } | null)?.value ?? null;
  }

  async #lastCrash(): Promise<void> {
    await this.powerCut();
    this.faults.clear();
    while (this.writers.length === 0 && !this.isViolated) await this.#subject.open();
    if (!this.isViolated) await this.#subject.finish();
  }
}
