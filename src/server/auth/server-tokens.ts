/**
 * Server tokens: what a server has to do with tokens: who is admitted, how much each may use, and
 * where new ones are stored. The code of the database is loaded if there is one.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import type { Time } from "../../core/base/time.ts";
import type { StreamStore } from "../../streams/files/stream-store.ts";
import type { ServeOptions } from "../settings/serve-options.ts";
import type { BrowserKeys } from "./browser-keys.ts";
import { TokenGate } from "./gate.ts";
import { ListedClaims, StoredLimits } from "./stored-limits.ts";
import { TokenFollower } from "./token-follower.ts";
import { TokenLimiter } from "./token-limits.ts";
import type { TokenTables } from "./token-tables.ts";
import {
  readTokenFile,
  type TokenEntry,
  type TokenLimits,
  type TokenList,
  tokenFile,
  tokenFilePath,
  tokenState,
} from "./tokens.ts";

export interface ServerTokens {
  readonly gate: TokenGate;
  readonly limiter: TokenLimiter;
  readonly stored: StoredLimits;
  /** Where `/v1/admin` makes tokens: the database if there is one, else the file. */
  readonly list: TokenList;
  /** Resolves when this server has read the list again. */
  changed(): Promise<void>;
  close(): Promise<void>;
}

interface TokenOptions {
  readonly store: StreamStore;
  readonly options: ServeOptions;
  readonly isLocal: boolean;
  readonly browsers: BrowserKeys | null;
  readonly limits: TokenLimits;
  readonly time: Time;
  readonly onFault: (what: string, cause: unknown) => void;
}

export async function openServerTokens(wanted: TokenOptions): Promise<ServerTokens> {
  const { options, time, onFault } = wanted;
  const tables = await tablesOf(options);
  try {
    const follower = tables && (await TokenFollower.open({ tables, time, onFault }));
    const path = tokenFilePath(options.dataDirectory);
    checkHost(wanted, follower?.entries ?? []);
    return {
      gate: new TokenGate({
        tokenPath: path,
        isRequired: !wanted.isLocal,
        browsers: wanted.browsers,
        follower,
        limits: wanted.limits,
        nowMs: time.nowMs,
        onFault,
      }),
      limiter: new TokenLimiter(time.nowMs),
      stored: new StoredLimits(tables ?? new ListedClaims(wanted.store, time), time),
      list: tables ?? tokenFile(nodeHost, path),
      changed: async () => follower?.look(),
      async close() {
        await follower?.close();
        await tables?.close();
      },
    };
  } catch (error) {
    await tables?.close();
    throw error;
  }
}

async function tablesOf({ store }: ServeOptions): Promise<TokenTables | null> {
  if (store === undefined) return null;
  return (await import("./token-tables.ts")).TokenTables.of(store);
}

/** Where others can reach the server, there must be a valid token. */
function checkHost({ options, isLocal, time }: TokenOptions, more: readonly TokenEntry[]): void {
  if (isLocal) return;
  requireToken(options, [...readTokenFile(tokenFilePath(options.dataDirectory)), ...more], time);
}

/** Throws BAD_SETTING without a valid one. */
export function requireToken(
  { dataDirectory, host, store }: ServeOptions,
  entries: readonly TokenEntry[],
  time: Time,
): void {
  if (entries.some((entry) => tokenState(entry, time.nowMs()) === "valid")) return;
  const where = store === undefined ? `--data ${dataDirectory}` : "--store and the same URL";
  throw new VerbatimError(
    "BAD_SETTING",
    `the server does not listen on ${host}: there are no tokens, and without them only this ` +
      `machine may reach it; run verbatim server token create ${where}, or use 127.0.0.1`,
    { setting: "host", from: "flag", reason: "others can reach it, and there are no tokens" },
  );
}
