/** Open recorder: a call recorder that writes to a store of our own layout. */

import { nodeHost } from "../../core/base/node-host.ts";
import type { Durability } from "../../core/log/log-options.ts";
import { Store } from "../../sessions/store/store.ts";
import { CallRecorder } from "../wire/call-recorder.ts";
import { Conversations } from "../wire/conversations.ts";
import { newRun } from "../wire/raw.ts";
import { StoreSessions } from "./store-sessions.ts";

/** Can be handed to another thread. */
export interface RecorderChoices {
  readonly root: string;
  readonly sign: boolean | "turn" | "append";
  readonly durability: Durability;
  /** Requests and answers are also kept as they were. */
  readonly raw: boolean;
}

export async function openRecorder(
  { root, sign, durability, raw }: RecorderChoices,
  onProblem: (problem: string) => void,
): Promise<CallRecorder> {
  const store = await Store.open(nodeHost, { root, sign, durability, onWarning: onProblem });
  const conversations = new Conversations();
  const onFailure = (cause: unknown) => onProblem(messageOf(cause));
  const sessions = new StoreSessions(store, conversations);
  return new CallRecorder(conversations, sessions, onFailure, raw ? newRun() : null);
}

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
