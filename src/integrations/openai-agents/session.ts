/**
 * VerbatimSession: a `Session` of the OpenAI Agents SDK whose history is an append-only log.
 *
 * - Items are stored unchanged. Nothing is erased: pop, clear and rewrite are lines of the log
 *   (docs/formats/sdk.md), and what they undo stays readable.
 * - When a method resolves, its effect is durable. Items added by one call are all there after a
 *   crash, or none of them.
 * - Several processes may use one session at once. An item is popped by one of them only; a rewrite
 *   counts only if nothing came between the reading it is based on and its own line (`after`).
 */

import { createHash, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type {
  AgentInputItem,
  SessionHistoryMutation,
  SessionHistoryRewriteArgs,
  SessionHistoryRewriteAwareSession,
  SessionHistoryTransaction,
  SessionHistoryTransactionArgs,
  SessionHistoryTransactionAwareSession,
} from "@openai/agents-core";
import { badArgument, checkData, checkOptions, type OptionKinds } from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { provideDialect } from "../../dialects/all.ts";
import { sdk } from "../../dialects/verbatim/sdk-dialect.ts";
import type { Session } from "../../sessions/store/session.ts";
import { Store, type StoreOptions } from "../../sessions/store/store.ts";
import {
  AT_START,
  appendTogether,
  countedLines,
  type HistoryLine,
  inGroups,
  lastLines,
} from "../history/history.ts";

export interface VerbatimSessionOptions
  extends Pick<StoreOptions, "root" | "remember" | "durability" | "sign" | "lockWaitMs"> {
  /** One path segment. Default: a new one. */
  readonly sessionId?: string;
}

const OPTIONS: OptionKinds<VerbatimSessionOptions> = {
  root: "text",
  remember: "boolean",
  durability: "any",
  sign: "any",
  lockWaitMs: "count",
  sessionId: "string",
};
const DOOR = "openai-agents";
const TYPES = ["item", "pop", "clear"];
/** Tries of a rewrite before it is given up, because other writers were always faster. */
const ATTEMPTS_MAX = 32;

export class VerbatimSession
  implements SessionHistoryRewriteAwareSession, SessionHistoryTransactionAwareSession
{
  readonly #sessionId: string;
  readonly #store: Store;
  #session: Session;
  /** One change at a time: each is based on the one before. */
  #changing: Promise<unknown> = Promise.resolve();

  /** Refuses with BAD_ID a session id that is not a plain path segment. */
  constructor(options: VerbatimSessionOptions = {}) {
    checkOptions("VerbatimSession", options, OPTIONS);
    const { sessionId = randomUUID(), ...storeOptions } = options;
    this.#sessionId = sessionId;
    this.#store = new Store(nodeHost, {
      dialect: provideDialect(sdk),
      mode: "shared",
      ...storeOptions,
    });
    this.#session = this.#store.session(`${DOOR}/${sessionId}`);
  }

  async getSessionId(): Promise<string> {
    return this.#sessionId;
  }

  /** The log file. */
  get path(): string {
    return this.#session.path;
  }

  /** All items, or the last `limit`, which are read from the end of the log. */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    // Any number, as in the SDK's own session: a negative limit gives no items.
    if (limit !== undefined && typeof limit !== "number") {
      throw badArgument("getItems", "takes a number, or nothing");
    }
    await this.#changing;
    return this.#items(limit);
  }

  /** Resolves when they are durable. More than fit one write (16 MB) go in several. */
  async addItems(items: AgentInputItem[]): Promise<void> {
    if (!Array.isArray(items)) throw badArgument("addItems", "takes its items as a list");
    await this.#change(async (session) => {
      for (const group of inGroups(items.map(lineOf))) await appendTogether(session, group);
    });
  }

  async popItem(): Promise<AgentInputItem | undefined> {
    return this.#change(async (session) => {
      if ((await this.#items(1)).length === 0) return undefined;
      const id = randomUUID();
      const to = await appendTogether(session, [{ type: "pop", id, count: 1 }]);
      // Which item it removed is known only now: another process may have been faster.
      const [taken] = await lastLines(session, { ...LOOK, to, limit: 1, skip: id });
      return taken?.item as AgentInputItem | undefined;
    });
  }

  /** The agent no longer sees the items; the log keeps them. */
  async clearSession(): Promise<void> {
    await this.#change(async (session) => {
      if ((await this.#lastLine()) === null) return;
      await appendTogether(session, [{ type: "clear" }]);
    });
  }

  async applyHistoryMutations(args: SessionHistoryRewriteArgs): Promise<void> {
    checkData("applyHistoryMutations", args, "mutations");
    const { mutations } = args;
    if (!Array.isArray(mutations)) {
      throw badArgument("applyHistoryMutations", "takes its mutations as a list");
    }
    if (mutations.length === 0) return;
    await this.#rewrite(async () => rewritten(await this.#items(), mutations), null);
  }

  /**
   * Refuses with HISTORY_CONFLICT an id that was used for another transaction, or a suffix that is
   * not there.
   */
  async applyHistoryTransaction(args: SessionHistoryTransactionArgs): Promise<void> {
    checkData("applyHistoryTransaction", args, "transaction");
    const { operationId, transaction } = args;
    if (typeof operationId !== "string" || operationId.trim() === "") {
      throw conflict(this.#sessionId, "the operation has no id");
    }
    const text = canonicalText(transaction);
    const operation = { id: operationId, sha256: createHash("sha256").update(text).digest("hex") };
    await this.#rewrite(async () => {
      const applied = await this.#operation(operationId);
      if (applied && applied.sha256 !== operation.sha256) {
        throw conflict(this.#sessionId, "the operation was applied with another transaction");
      }
      return applied ? null : this.#transacted(transaction);
    }, operation);
  }

  /** Closes the log. Not needed for durability: added items are durable. */
  async close(): Promise<void> {
    await this.#changing;
    await this.#store.close();
  }

  async #items(limit?: number): Promise<AgentInputItem[]> {
    // Like `slice`: a fraction counts, and NaN is no limit.
    const count = limit === undefined || Number.isNaN(limit) ? {} : { limit: Math.ceil(limit) };
    const lines = await lastLines(this.#session, { ...LOOK, ...count });
    return lines.map((line) => line.item as AgentInputItem);
  }

  /** The change of a transaction: how many items to remove, and which to add. */
  async #transacted(transaction: SessionHistoryTransaction): Promise<Change> {
    if (transaction.type === "append_items") return { count: 0, items: transaction.items };
    const { expectedSuffix, replacement } = transaction;
    const count = expectedSuffix.length;
    const suffix = await this.#items(count);
    if (!isDeepStrictEqual(suffix, JSON.parse(JSON.stringify(expectedSuffix)))) {
      throw conflict(this.#sessionId, "the history does not end as the transaction says");
    }
    return { count, items: replacement };
  }

  /**
   * Applies a change based on what was read, and tries again while other writers are faster; null:
   * nothing to change.
   */
  async #rewrite(read: () => Promise<Change | null>, operation: Operation | null): Promise<void> {
    await this.#change(async (session) => {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        const after = (await this.#lastLine()) ?? AT_START;
        const change = await read();
        if (change === null) return;
        const back = { type: "pop", count: change.count, after, ...(operation && { operation }) };
        const lines: HistoryLine[] = [back, ...change.items.map(lineOf)];
        const id = randomUUID();
        const to = await appendTogether(session, [...lines.slice(0, -1), { ...lines.at(-1), id }]);
        // Our lines are the last up to there. If others came in between, ours do not count.
        for await (const line of countedLines(session, { types: TYPES, to })) {
          if (line.id === id) return;
          break;
        }
      }
      throw conflict(this.#sessionId, "other writers kept changing it");
    });
  }

  async #lastLine(): Promise<string | null> {
    for await (const { id } of countedLines(this.#session, { types: TYPES })) return id as string;
    return null;
  }

  /** An operation that was applied since the session was cleared. */
  async #operation(id: string): Promise<Operation | null> {
    for await (const { type, operation } of countedLines(this.#session, { types: TYPES })) {
      if (type === "clear") return null;
      if ((operation as Operation | undefined)?.id === id) return operation as Operation;
    }
    return null;
  }

  #change<T>(change: (session: Session) => Promise<T>): Promise<T> {
    const changed = this.#changing.then(async () => {
      try {
        return await change(this.#session);
      } catch (cause) {
        if (cause instanceof VerbatimError && cause.code === "LOG_WRITER_FAILED") {
          await this.#session.release().catch(() => {}); // Its failure was already thrown.
          this.#session = this.#store.session(this.#session.id); // Opening it again recovers.
        }
        throw cause;
      }
    });
    this.#changing = changed.catch(() => {}); // The caller gets the error; the next one continues.
    return changed;
  }
}

interface Change {
  readonly count: number;
  readonly items: readonly AgentInputItem[];
}

interface Operation {
  readonly id: string;
  readonly sha256: string;
}

const LOOK = { types: TYPES, type: "item" } as const;

function lineOf(item: AgentInputItem): HistoryLine {
  return { type: "item", item };
}

function conflict(session: string, reason: string): VerbatimError<"HISTORY_CONFLICT"> {
  return new VerbatimError(
    "HISTORY_CONFLICT",
    `the history of ${session} was not changed: ${reason}; read it again`,
    { session, reason },
  );
}

/**
 * What the SDK's mutations change at the end of a history.
 *
 * The items to remove from the end, and those to add instead; null when nothing changes.
 */
function rewritten(
  items: readonly AgentInputItem[],
  mutations: readonly SessionHistoryMutation[],
): { readonly count: number; readonly items: readonly AgentInputItem[] } | null {
  let next = items;
  for (const mutation of mutations) {
    if (mutation.type === "replace_function_call") next = withReplacedCall(next, mutation);
  }
  const same = next.findIndex((item, n) => item !== items[n]);
  const kept = same === -1 ? next.length : same;
  if (kept === items.length && kept === next.length) return null;
  return { count: items.length - kept, items: next.slice(kept) };
}

/** Replaces the first call of that id; those that repeat it are removed. */
function withReplacedCall(
  items: readonly AgentInputItem[],
  { callId, replacement }: SessionHistoryMutation,
): AgentInputItem[] {
  let isReplaced = false;
  return items.flatMap((item) => {
    if (item.type !== "function_call" || item.callId !== callId) return [item];
    const first = isReplaced ? [] : [replacement];
    isReplaced = true;
    return first;
  });
}

/** One text for equal values, whatever the order of their keys. */
function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
