/** Names: the dialects, in the order in which they are listed and looked for. */

import type { DialectName } from "./dialect.ts";

export const DIALECT_NAMES: readonly DialectName[] = [
  "verbatim",
  "rye",
  "homeagent",
  "entire",
  "claude",
  "sdk",
];

/** Also those that a store reads and never writes. */
export const READ_DIALECT_NAMES: readonly DialectName[] = [...DIALECT_NAMES, "streams"];
