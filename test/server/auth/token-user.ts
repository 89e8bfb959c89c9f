/** Tokens for a test's server, created as the command line creates them. */

import { nodeHost } from "../../../src/core/base/node-host.ts";
import {
  createToken,
  type NewToken,
  type TokenLimits,
  type TokenScope,
  tokenFile,
  tokenFilePath,
} from "../../../src/server/auth/tokens.ts";

export interface Wanted {
  readonly name?: string;
  readonly scopes?: readonly TokenScope[];
  readonly paths?: readonly string[];
  readonly project?: string;
  readonly limits?: TokenLimits;
  readonly expiresAtMs?: number;
}

export function makeToken(directory: string, wanted: Wanted = {}): Promise<NewToken> {
  const { name = "test", scopes = ["admin"], paths = ["**"], expiresAtMs = null, ...more } = wanted;
  const request = { name, scopes, paths, expiresAtMs, ...more };
  return createToken(tokenFile(nodeHost, tokenFilePath(directory)), request, Date.now());
}

export function bearer(token: string): { readonly Authorization: string } {
  return { Authorization: `Bearer ${token}` };
}
