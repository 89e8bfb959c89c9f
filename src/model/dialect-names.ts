/** Dialect names: the on-disk layouts, in the order in which they are listed and looked for. */

export const DIALECT_NAMES = ["verbatim", "rye", "homeagent", "entire", "claude", "sdk"] as const;

/** Also those that a store reads and never writes. */
export const READ_DIALECT_NAMES = [...DIALECT_NAMES, "streams"] as const;
