/** A writer's facts, for tests of dialects that need them. */

import type { WriterFacts } from "../../src/dialects/facets/writing.ts";

/** Ids are `id-1`, `id-2` …, each once. */
export function writerFacts(known: Partial<WriterFacts> = {}): WriterFacts {
  let ids = 0;
  return {
    id: "session",
    nowMs: Date.parse("2026-02-10T23:31:00.123Z"),
    agent: null,
    newId: () => `id-${++ids}`,
    cwd: "/path/to/project",
    version: "0.0.44",
    model: "the-model",
    ...known,
  };
}
