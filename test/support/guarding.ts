/** A program's directory with sessions, and a guard of it, both in temporary directories. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { Host } from "../../src/core/base/host.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { readGeneration, readGuardedRoot } from "../../src/dialects/files/guard-store.ts";
import { RootGuard } from "../../src/guard/root-guard.ts";
import { GuardSigning } from "../../src/guard/signatures.ts";
import { tempDirectory } from "./temp-directory.ts";

export interface GuardedUserOptions {
  readonly dialect?: string;
  readonly host?: Host;
  readonly isSigned?: boolean;
}

export class GuardedUser {
  readonly root = tempDirectory();
  readonly store = tempDirectory();
  readonly warnings: string[] = [];
  readonly events: Readonly<Record<string, unknown>>[] = [];
  readonly #options: GuardedUserOptions;
  nowMs = () => Date.now();

  constructor(options: GuardedUserOptions = {}) {
    this.#options = options;
  }

  pathOf(path: string): string {
    return join(this.root, path);
  }

  /** Writes a source as its program would; long ago, unless it is said when. */
  write(path: string, text: string | Uint8Array, mtimeMs = Date.now() - 10_000): void {
    mkdirSync(dirname(this.pathOf(path)), { recursive: true });
    writeFileSync(this.pathOf(path), text);
    utimesSync(this.pathOf(path), mtimeMs / 1000, mtimeMs / 1000);
  }

  /** Opens a guard, which holds the journal until it is closed. */
  async open(host: Host = this.#options.host ?? nodeHost): Promise<RootGuard> {
    const { dialect = "claude-code", isSigned = false } = this.#options;
    const onWarning = (warning: string) => this.warnings.push(warning);
    const guard = await RootGuard.open({
      host,
      dialect,
      root: this.root,
      directory: this.store,
      onWarning,
      nowMs: () => this.nowMs(),
      signing: isSigned ? new GuardSigning(nodeHost, () => this.nowMs(), onWarning) : null,
      onEvent: (event) => this.events.push(event),
    });
    onTestFinished(() => guard.close());
    return guard;
  }

  /** One pass of a guard that is then closed. */
  async pass(): Promise<void> {
    const guard = await this.open();
    await guard.scan();
    this.directory = guard.directory;
    await guard.close();
  }

  directory = "";

  copyOf(path: string, generation = 1): string | null {
    return readGeneration(this.directory, path, generation)?.toString("utf8") ?? null;
  }

  sourceOf(path: string): string {
    return readFileSync(this.pathOf(path), "utf8");
  }

  kept(path: string) {
    const kept = readGuardedRoot(this.directory)?.sessions.get(path);
    assert.ok(kept, `${path} is guarded`);
    return kept;
  }

  /** The names of events so far; forgets them. */
  happened(): unknown[] {
    return this.events.splice(0).map(({ event }) => event);
  }
}
