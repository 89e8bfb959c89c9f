/** Tokens for a test's server, created as the command line creates them. */

import { nodeHost } from "../../../src/base/node-host.ts";
import { type Scope, tokenFilePath } from "../../../src/tokens/token-file.ts";
import { createToken, type NewToken } from "../../../src/tokens/tokens.ts";

export interface Wanted {
  readonly scopes?: readonly Scope[];
  readonly paths?: readonly string[];
  readonly expiresAtMs?: number;
}

export function makeToken(directory: string, wanted: Wanted = {}): Promise<NewToken> {
  const { scopes = ["admin"], paths = ["**"], expiresAtMs = null } = wanted;
  const request = { name: "test", scopes, paths, expiresAtMs };
  return createToken(nodeHost, tokenFilePath(directory), request, Date.now());
}

export function bearer(token: string): { readonly Authorization: string } {
  return { Authorization: `Bearer ${token}` };
}
