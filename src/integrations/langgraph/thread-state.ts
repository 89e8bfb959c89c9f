/**
 * Thread state: what the lines of one LangGraph thread say. Page: docs/formats/sdk.md, "Threads of
 * LangGraph".
 *
 * - A checkpoint holds the values that changed; the others are those of its ancestors.
 * - A list of messages is a chain of lines: each message names the one before it. So a list that
 *   grows by one adds one line, and lists that begin alike share their beginning.
 * - The order of the log decides: a later snapshot of one checkpoint replaces the earlier. A write
 *   stays as it was first made, except for the channels that LangGraph itself replaces (below 0).
 */

import { createHash, randomUUID } from "node:crypto";
import { type ByteOffset, START } from "../../core/base/offset.ts";
import type { Native } from "../../core/model/entry.ts";
import { roleIn } from "../../dialects/verbatim/langchain-message.ts";

/** A value as its serializer wrote it: as JSON, or as bytes of a type of its own. */
export type Packed = { readonly json: unknown } | { readonly as: string; readonly base64: string };

/** The value of a channel, or the last message of a list. */
type ChannelValue = (Packed | { readonly last: string }) & { readonly version: string | number };

export interface Snapshot {
  readonly checkpoint: string;
  /** The parent, if it has one. */
  readonly before?: string;
  /** All but the values of channels. */
  readonly saved: Packed;
  readonly meta: Packed;
  readonly values: Readonly<Record<string, ChannelValue>>;
}

export interface Write {
  readonly task: string;
  readonly channel: string;
  readonly saved: Packed;
}

export class ThreadState {
  /** Where reading continues. */
  end: ByteOffset = START;
  readonly #messages = new Map<string, { readonly prev: string; readonly json: unknown }>();
  /** The line of a message, by its hash; and by its hash and the line before it in its list. */
  readonly #ids = new Map<string, string>();
  /** By namespace, then by checkpoint. */
  readonly #snapshots = new Map<string, Map<string, Snapshot>>();
  readonly #writes = new Map<string, Map<string, Write>>();

  get isEmpty(): boolean {
    return this.#snapshots.size === 0 && this.#writes.size === 0;
  }

  get namespaces(): string[] {
    return [...this.#snapshots.keys()];
  }

  /** The snapshots of a namespace, the newest first: their ids begin with the time. */
  newestFirst(ns: string): Snapshot[] {
    const all = [...(this.#snapshots.get(ns)?.values() ?? [])];
    return all.sort((a, b) => (a.checkpoint < b.checkpoint ? 1 : -1));
  }

  snapshot(ns: string, checkpoint: string): Snapshot | undefined {
    return this.#snapshots.get(ns)?.get(checkpoint);
  }

  writes(ns: string, checkpoint: string): Write[] {
    return [...(this.#writes.get(keyOf(ns, checkpoint))?.values() ?? [])];
  }

  /** A channel's value of that version: the checkpoint's, or that of its nearest ancestor. */
  value(ns: string, { checkpoint }: Snapshot, channel: string, version: unknown): Packed | null {
    const passed = new Set<string>(); // A file of others may have a circle.
    let snapshot = this.snapshot(ns, checkpoint);
    while (snapshot && !passed.has(snapshot.checkpoint)) {
      if (Object.hasOwn(snapshot.values, channel)) {
        const value = snapshot.values[channel] as ChannelValue;
        if (value.version !== version) return null;
        return "last" in value ? { json: this.#list(value.last) } : value;
      }
      passed.add(snapshot.checkpoint);
      snapshot = this.snapshot(ns, snapshot.before ?? "");
    }
    return null;
  }

  add(line: Native): void {
    if (line.type === "clear") {
      for (const map of [this.#messages, this.#ids, this.#snapshots, this.#writes]) map.clear();
    }
    if (line.type === "value") this.#addMessage(line);
    const [ns, checkpoint] = [line.ns as string, line.checkpoint as string];
    if (line.type === "snapshot") {
      const known = this.#snapshots.get(ns) ?? new Map<string, Snapshot>();
      this.#snapshots.set(ns, known.set(checkpoint, line as unknown as Snapshot));
    }
    if (line.type === "writes") {
      const key = keyOf(ns, checkpoint);
      const known = this.#writes.get(key) ?? new Map<string, Write>();
      const task = line.task as string;
      for (const [at, channel, saved] of line.writes as [number, string, Packed][]) {
        const place = keyOf(task, at);
        if (at < 0 || !known.has(place)) known.set(place, { task, channel, saved });
      }
      this.#writes.set(key, known);
    }
  }

  /** A value to be written in a snapshot; messages that are new are added to `lines`. */
  stored(channel: string, packed: Packed, lines: Native[]): Packed | { readonly last: string } {
    const list = "json" in packed ? packed.json : null;
    if (!Array.isArray(list) || list.length === 0 || list.some((each) => roleIn(each) === null))
      return packed;
    let prev = "";
    for (const message of list) {
      const hash = hashOf(message);
      const known = this.#ids.get(keyOf(prev, hash));
      if (known === undefined) {
        const same = this.#ids.get(hash);
        const said = same === undefined ? { value: message } : { same };
        const line = { type: "value", id: randomUUID(), channel, ...(prev && { prev }), ...said };
        lines.push(line);
        prev = line.id;
      } else prev = known;
    }
    return { last: prev };
  }

  #list(last: string): unknown[] {
    const list: unknown[] = [];
    for (let line = this.#messages.get(last); line; line = this.#messages.get(line.prev)) {
      list.push(line.json);
    }
    return list.reverse();
  }

  #addMessage(line: Native): void {
    const [id, prev] = [line.id as string, (line.prev as string | undefined) ?? ""];
    const same = this.#messages.get(line.same as string);
    const json = same === undefined ? line.value : same.json;
    if (prev !== "" && !this.#messages.has(prev)) return; // Its list cannot be read.
    const hash = hashOf(json);
    this.#messages.set(id, { prev, json });
    this.#ids.set(keyOf(prev, hash), id);
    if (same === undefined) this.#ids.set(hash, id);
  }
}

function keyOf(...names: readonly (string | number)[]): string {
  return JSON.stringify(names);
}

function hashOf(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(value) ?? "")
    .digest("base64");
}
