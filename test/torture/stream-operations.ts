/** Stream operations: random requests to a store, correct and incorrect ones. */

import type { Random } from "./scheduler.ts";
import { type Operation, type OracleTurn, type StreamOracle, tokenAt } from "./stream-oracle.ts";

const PATHS = ["/a", "/b/c", "/b__c", "/d"] as const;
/** The stream that expires; nothing is forked from it. */
const BRIEF = "/brief";
const PRODUCERS = ["p", "q"] as const;
const RETRIES_KEPT = 20;
export const LIFETIME_MS = 500;

type Append = Extract<Operation, { readonly kind: "append" }>;

export class StreamOperations {
  readonly #random: Random;
  /** The newest appends of producers, to be sent again. */
  readonly #sent: Append[] = [];
  #valuesMade = 0;
  #seqs = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** `asked`: requests that are not answered yet. */
  next(oracle: StreamOracle, asked: readonly Operation[], at: number): Operation {
    const random = this.#random;
    const path = random.pick([...PATHS, ...PATHS, BRIEF]);
    const isThere =
      oracle.living(path, at) !== null || asked.some((operation) => operation.path === path);
    if (!isThere && random.chance(0.8)) return this.#create(oracle, path, at);
    const die = random.below(100);
    if (die < 74) return this.#append(oracle, asked, path, at);
    if (die < 84) return this.#retry(at) ?? this.#append(oracle, asked, path, at);
    if (die < 93) return { kind: "remove", path, at };
    return this.#create(oracle, path, at);
  }

  /** Sends a request again, as a client does that received no answer. */
  #retry(at: number): Append | null {
    return this.#sent.length === 0 ? null : { ...this.#random.pick(this.#sent), at };
  }

  #create(oracle: StreamOracle, path: string, at: number): Operation {
    const random = this.#random;
    if (path !== BRIEF && random.chance(0.4)) return this.#fork(oracle, path, at);
    const values = random.chance(0.5) ? this.#values() : [];
    const untilMs = path === BRIEF ? at + LIFETIME_MS : null;
    const isClosed = random.chance(0.05);
    return { kind: "create", path, at, isJson: isJson(path), values, isClosed, untilMs };
  }

  #fork(oracle: StreamOracle, path: string, at: number): Operation {
    const random = this.#random;
    const source = random.pick(PATHS.filter((other) => other !== path));
    const stream = oracle.living(source, at);
    const isAtEnd = stream === null || random.chance(0.3);
    const count = isAtEnd ? 0 : random.below(stream.messages.length + 1);
    const from = isAtEnd ? null : tokenAt(stream, count);
    const past = isAtEnd || random.chance(0.5) ? 0 : 1 + random.below(3);
    return { kind: "fork", path, at, source, from, past };
  }

  #append(oracle: StreamOracle, asked: readonly Operation[], path: string, at: number): Append {
    const random = this.#random;
    const stream = oracle.living(path, at);
    const producer = random.chance(0.5) ? this.#turn(oracle, asked, path, at) : null;
    const close = random.chance(0.03);
    const operation: Append = {
      kind: "append",
      path,
      at,
      // A fork has the type of its source.
      isJson: stream?.isJson ?? isJson(path),
      values: close && random.chance(0.5) ? [] : this.#values(),
      producer,
      streamSeq: random.chance(0.1) ? this.#streamSeq() : null,
      close,
    };
    if (producer !== null) this.#sent.push(operation);
    if (this.#sent.length > RETRIES_KEPT) this.#sent.shift();
    return operation;
  }

  #turn(oracle: StreamOracle, asked: readonly Operation[], path: string, at: number): OracleTurn {
    const random = this.#random;
    const id = random.pick(PRODUCERS);
    const last = asked.findLast(
      (operation): operation is Append =>
        operation.kind === "append" && operation.path === path && operation.producer?.id === id,
    );
    const { epoch, seq } = last?.producer ??
      oracle.living(path, at)?.producers.get(id) ?? { epoch: 0, seq: -1 };
    if (random.chance(0.05)) return { id, epoch: epoch + 1, seq: random.below(2) };
    if (random.chance(0.05)) return { id, epoch: Math.max(0, epoch - 1), seq: random.below(5) };
    return { id, epoch, seq: seq + 1 };
  }

  #streamSeq(): string {
    const number = this.#random.chance(0.8) ? this.#seqs++ : this.#random.below(this.#seqs + 1);
    return String(number).padStart(6, "0");
  }

  /** Each contains a number that was never used before. */
  #values(): string[] {
    const random = this.#random;
    const values: string[] = [];
    for (let n = random.chance(0.6) ? 0 : random.below(4); n >= 0; n--) {
      const pad = "é".repeat(random.chance(0.02) ? 20_000 : random.pick([0, 3, 40, 400]));
      values.push(`{"n":${this.#valuesMade++}, "pad":"${pad}"}`);
    }
    return values;
  }
}

function isJson(path: string): boolean {
  return path !== "/d";
}
