/**
 * Thread: what the lines of one LangGraph thread say. Page: docs/formats/sdk.md, "Threads of
 * LangGraph".
 *
 * - LangGraph's own MemorySaver decides what a checkpointer returns. The lines are put into one, in
 *   their order, packed: checkpoints share their values, which are unpacked when they are returned.
 * - A checkpoint's line has the values that changed; the others are those of its parent.
 * - A list of messages is a chain of lines: each names the one before it. So a list that grows by
 *   one adds one line, and lists that begin alike share their beginning.
 */

import { createHash } from "node:crypto";
import {
  type Checkpoint,
  emptyCheckpoint,
  MemorySaver,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { VerbatimError } from "../../core/base/errors.ts";
import { type ByteOffset, START } from "../../core/base/offset.ts";
import type { Native } from "../../core/model/entry.ts";
import { roleIn } from "../../dialects/verbatim/langchain-message.ts";
import type { Session } from "../../sessions/store/session.ts";

/** A value as its serializer wrote it: as JSON, or as bytes of a type of its own. */
export type Packed = { readonly json: unknown } | { readonly as: string; readonly base64: string };

/** The value of a channel, or the last message of a list. */
type ChannelValue = (Packed | { readonly last: string }) & { readonly version: string | number };
type ChannelValues = Readonly<Record<string, ChannelValue>>;

interface Message {
  readonly prev: string;
  readonly json: unknown;
}

export class Thread {
  /** What it returns is unpacked. */
  memory: MemorySaver;
  isEmpty = true;
  readonly #id: string;
  readonly #serde: SerializerProtocol;
  #end: ByteOffset = START;
  #reading: Promise<void> = Promise.resolve();
  readonly #messages = new Map<string, Message>();
  /** The line that has a message, by the message's hash. */
  readonly #lines = new Map<string, string>();
  /** All values of a checkpoint, by namespace and id. */
  readonly #values = new Map<string, ChannelValues>();

  constructor(id: string, serde: SerializerProtocol) {
    this.#id = id;
    this.#serde = serde;
    this.memory = this.#emptyMemory();
  }

  /** Reads the lines that other calls and processes wrote since. */
  read(session: Session): Promise<void> {
    const reading = this.#reading.then(() => this.#continue(session));
    this.#reading = reading.catch(() => {}); // The next call reads that line again.
    return reading;
  }

  async pack(value: unknown): Promise<Packed> {
    const [as, bytes] = await this.#serde.dumpsTyped(value);
    if (as === "json") return { json: JSON.parse(new TextDecoder().decode(bytes)) };
    return { as, base64: Buffer.from(bytes).toString("base64") };
  }

  /** A value for a checkpoint's line; messages that the log does not have are added to `lines`. */
  stored(channel: string, packed: Packed, lines: Native[]): Packed | { readonly last: string } {
    const list = "json" in packed ? packed.json : null;
    if (!Array.isArray(list) || list.length === 0) return packed;
    if (list.some((item) => roleIn(item) === null)) return packed;
    let prev = "";
    for (const value of list) {
      const hash = hashOf(value);
      const id = hashOf([prev, hash]);
      if (!this.#messages.has(id)) {
        const same = this.#lines.get(hash);
        const content = same === undefined ? { value } : { same };
        lines.push({ type: "value", id, channel, ...(prev && { prev }), ...content });
      }
      prev = id;
    }
    return { last: prev };
  }

  async #continue(session: Session): Promise<void> {
    try {
      for await (const { native, end } of session.entries({ from: this.#end })) {
        await this.#add(native);
        this.#end = end;
      }
    } catch (cause) {
      if (!(cause instanceof VerbatimError) || cause.code !== "LOG_NOT_FOUND") throw cause;
      this.#clear();
      this.#end = START;
    }
  }

  async #add(line: Native): Promise<void> {
    if (line.type === "clear") return this.#clear();
    this.isEmpty = false;
    if (line.type === "value") return this.#addMessage(line);
    const { ns, checkpoint: id } = line as { ns: string; checkpoint: string };
    if (line.type === "snapshot") {
      const { before, saved, meta } = line;
      const values = { ...this.#values.get(keyOf(ns, before)), ...(line.values as ChannelValues) };
      this.#values.set(keyOf(ns, id), values);
      const checkpoint = { ...emptyCheckpoint(), id, channel_values: { saved, values } };
      await this.memory.put(this.#config(ns, before), checkpoint, meta as never);
    }
    if (line.type === "writes") {
      await this.memory.putWrites(this.#config(ns, id), line.writes as [], line.task as string);
    }
  }

  #addMessage({ id, prev = "", same, value }: Native): void {
    if (this.#messages.has(id as string)) return; // Two processes wrote it at once.
    if (prev !== "" && !this.#messages.has(prev as string)) return; // Its list cannot be read.
    const json = this.#messages.get(same as string)?.json ?? value ?? null;
    this.#messages.set(id as string, { prev: prev as string, json });
    if (same === undefined) this.#lines.set(hashOf(json), id as string);
  }

  #config(ns: string, checkpoint: unknown): { configurable: object } {
    return {
      configurable: { thread_id: this.#id, checkpoint_ns: ns, checkpoint_id: checkpoint },
    };
  }

  #clear(): void {
    for (const map of [this.#messages, this.#lines, this.#values]) map.clear();
    this.memory = this.#emptyMemory();
    this.isEmpty = true;
  }

  /** It holds packed values by number, and returns them unpacked. */
  #emptyMemory(): MemorySaver {
    const items: (Packed | Checkpoint)[] = [];
    return new MemorySaver({
      dumpsTyped: async (item) => ["json", new Uint8Array(Buffer.from(`${items.push(item) - 1}`))],
      loadsTyped: async (_, number) => {
        const item = items[Number(Buffer.from(number).toString())] as Packed | Checkpoint;
        return "channel_values" in item ? this.#checkpoint(item) : this.#unpack(item);
      },
    });
  }

  async #checkpoint({ channel_values }: Checkpoint): Promise<Checkpoint> {
    const { saved, values } = channel_values as { saved: Packed; values: ChannelValues };
    const checkpoint = (await this.#unpack(saved)) as Checkpoint;
    const current = Object.entries(values).filter(([channel, { version }]) => {
      return version === checkpoint.channel_versions[channel];
    });
    const unpacked = current.map(async ([channel, value]) => {
      const packed = "last" in value ? { json: this.#list(value.last) } : value;
      return [channel, await this.#unpack(packed)];
    });
    checkpoint.channel_values = Object.fromEntries(await Promise.all(unpacked));
    return checkpoint;
  }

  #list(last: string): unknown[] {
    const list: unknown[] = [];
    for (let at = this.#messages.get(last); at; at = this.#messages.get(at.prev))
      list.push(at.json);
    return list.reverse();
  }

  #unpack(packed: Packed): Promise<unknown> {
    if ("json" in packed) return this.#serde.loadsTyped("json", JSON.stringify(packed.json));
    return this.#serde.loadsTyped(packed.as, new Uint8Array(Buffer.from(packed.base64, "base64")));
  }
}

function keyOf(ns: string, checkpoint: unknown): string {
  return JSON.stringify([ns, checkpoint]);
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 22);
}
