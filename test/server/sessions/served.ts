/** A server with sessions to read: real stores in every dialect, and requests to it. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { SESSION_LIMITS, type SessionLimits } from "../../../src/server/sessions/session-limits.ts";
import type { ServeOptions } from "../../../src/server/settings/serve-options.ts";
import { SigningUser, turnOf } from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { startTestServer } from "../test-server.ts";

export interface ServedOptions extends Partial<ServeOptions> {
  readonly limits?: Partial<SessionLimits>;
}

/** A server on these roots, whose user has their own directories. */
export async function serveSessions(
  roots: readonly string[],
  { limits = {}, ...options }: ServedOptions = {},
) {
  // Without the usual delay between checks, so that a test sees each change at once.
  const sessions: SessionLimits = {
    ...SESSION_LIMITS,
    freshMs: 0,
    listWaitMs: 300_000,
    searchWaitMs: 300_000,
    ...limits,
  };
  const server = await startTestServer({ roots, sessions, ...options });
  const url = (path: string) => `${server.url}/v1/sessions${path}`;
  return {
    server,
    url,
    /** Expects 200, and returns the JSON. */
    async json<T = Record<string, unknown>>(path: string): Promise<T> {
      const response = await fetch(url(path));
      const text = await response.text();
      assert.equal(response.status, 200, text);
      return JSON.parse(text) as T;
    },
  };
}

/** A new user with their own catalog, keys and pins. */
export function newUser(): SigningUser {
  return new SigningUser();
}

/** Sessions in every dialect in one root. */
export async function everyDialect(user: SigningUser): Promise<string> {
  const root = tempDirectory();
  for (const dialect of ["rye", "homeagent", "entire"] as const) {
    await user.write({ dialect }, [...turnOf(`first in ${dialect}`), ...turnOf("second")], {
      root,
    });
  }
  return root;
}

export interface ListedSession {
  readonly id: string;
  readonly session: string;
  readonly dialect: string;
  readonly title: string | null;
  readonly status: string | null;
  readonly updatedAt: string | null;
  readonly isCurrent: boolean;
  readonly isMissing: boolean;
  readonly bytes: number;
}

export interface SessionPage {
  readonly sessions: readonly ListedSession[];
  readonly next: string | null;
  readonly isComplete: boolean;
}

export interface EntryItem {
  readonly start: number;
  readonly end: number;
  readonly bytes: number;
  readonly kind: string;
  readonly fault: string | null;
  readonly entry: { readonly parts: readonly { readonly text?: string }[] } | null;
}

export interface EntryPage {
  readonly entries: readonly EntryItem[];
  readonly from: number;
  readonly next: number;
  readonly end: number;
  readonly isAtStart: boolean;
  readonly isAtEnd: boolean;
  readonly tornBytes: number;
}

/** The path of a rye thread's log. */
export function ryeLog(root: string, id: string): string {
  return join(root, ".ai/threads", id, "transcript.jsonl");
}
