/** Every kind of writer, each with a name for test names: what holds for one holds for all. */

import type { Durability, LogMode } from "../../src/core/log/log-options.ts";

export interface WriterKind {
  readonly durability: Durability;
  readonly mode: LogMode;
}

export const WRITER_KINDS: readonly (readonly [string, WriterKind])[] = [
  ["disk, exclusive", { durability: "disk", mode: "exclusive" }],
  ["disk, shared", { durability: "disk", mode: "shared" }],
  ["os, exclusive", { durability: "os", mode: "exclusive" }],
  ["os, shared", { durability: "os", mode: "shared" }],
];
