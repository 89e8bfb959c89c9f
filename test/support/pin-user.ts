/** A user's pins in a test: the file, and the warnings. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../../src/core/base/host.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { Heads } from "../../src/trust/heads/heads.ts";
import type { PinLookup } from "../../src/trust/proof/pins.ts";
import { tempDirectory } from "./temp-directory.ts";

/** Their state directory does not exist yet. */
export class PinUser {
  readonly stateDirectory = join(tempDirectory(), "state", "verbatim");
  readonly path = join(this.stateDirectory, "heads.jsonl");
  readonly warnings: string[] = [];

  heads(host: Host = nodeHost): Heads {
    const onWarning = (warning: string) => this.warnings.push(warning);
    return new Heads({ host, stateDirectory: this.stateDirectory, onWarning });
  }

  /** Writes lines to the file, unchanged. */
  put(...lines: readonly string[]): void {
    mkdirSync(this.stateDirectory, { recursive: true, mode: 0o700 });
    writeFileSync(this.path, lines.join(""));
  }

  get lines(): string[] {
    return readFileSync(this.path, "utf8").split("\n").slice(0, -1);
  }

  async seqOf(id: string): Promise<number | null> {
    const { found, problem } = await this.heads().lookup(whose(id));
    assert.equal(problem, null);
    return found?.pin.seq ?? null;
  }
}

/** A session by its id, in the usual place. */
export function whose(id: string): PinLookup {
  return { place: "rye:/project", id, log: null };
}
