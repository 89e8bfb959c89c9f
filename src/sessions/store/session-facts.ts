/** Session facts: what the writer of a session knows when it builds a line. */

import type { WriterFacts } from "../../dialects/facets/writing.ts";

export interface SessionWriterFacts extends Omit<WriterFacts, "nowMs"> {
  readonly nowMs: () => number;
}

/** A class, so that all sessions share one getter; a getter per session would be slow. */
export class SessionFacts implements WriterFacts {
  readonly id: string;
  readonly agent: string | null;
  readonly newId: () => string;
  readonly cwd: string;
  readonly version: string;
  readonly model: string | null;
  readonly #nowMs: () => number;

  constructor({ id, agent, newId, nowMs, cwd, version, model }: SessionWriterFacts) {
    this.id = id;
    this.agent = agent;
    this.newId = newId;
    this.cwd = cwd;
    this.version = version;
    this.model = model;
    this.#nowMs = nowMs;
  }

  get nowMs(): number {
    return this.#nowMs();
  }
}
