/**
 * Guard copies: sends the guard's copies of other programs' sessions (docs/formats/guard.md).
 *
 * Each generation is a stream of its own: a program that rewrites its file begins a new one, and
 * what the server has stays as it is.
 */

import { dialectNamed, loadDialects } from "../../../dialects/all.ts";
import {
  generationBytes,
  generationFile,
  guardedRoots,
  readGuardedRoot,
  statOf,
} from "../../../dialects/files/guard-store.ts";
import { sidecarOf } from "../../../trust/session-log.ts";
import type { OutgoingSession } from "./outbox.ts";
import type { Sender, SendReport } from "./sender.ts";

interface Copy {
  readonly session: OutgoingSession;
  readonly bytes: number;
  readonly sidecarBytes: number;
}

export class GuardCopies {
  readonly #sender: Sender;
  readonly #agent: string | undefined;
  /** Sizes of copies that were delivered, by file. */
  readonly #delivered = new Map<string, string>();

  constructor(sender: Sender, agent?: string) {
    this.#sender = sender;
    this.#agent = agent;
  }

  /** Sends what changed since the last call. */
  async send(onProgress: (done: number, total: number) => void = () => {}): Promise<SendReport> {
    await loadDialects();
    const changed: Copy[] = [];
    for (const copy of guardCopies(this.#agent)) {
      if (this.#delivered.get(keyOf(copy)) === sizesOf(copy)) continue;
      const { session, bytes, sidecarBytes } = copy;
      if (await this.#sender.hasDelivered(session, bytes, sidecarBytes)) this.#note(copy);
      else changed.push(copy);
    }
    const sessions = changed.map(({ session }) => session);
    const report = await this.#sender.send(sessions, onProgress);
    if (report.left.length === 0) for (const copy of changed) this.#note(copy);
    return report;
  }

  #note(copy: Copy): void {
    this.#delivered.set(keyOf(copy), sizesOf(copy));
  }
}

function keyOf({ session: { root, file } }: Copy): string {
  return `${root}\n${file}`;
}

function sizesOf({ bytes, sidecarBytes }: Copy): string {
  return `${bytes} ${sidecarBytes}`;
}

/** Every generation of every guarded session that the server can show. */
function* guardCopies(agent: string | undefined): Generator<Copy> {
  for (const directory of guardedRoots(agent)) {
    const root = readGuardedRoot(directory);
    for (const { path, kind, generation: newest } of root?.sessions.values() ?? []) {
      const dialect = root?.agent ?? "";
      const isSent = dialectNamed(dialect).naming.idAt(path.split("/")) !== null;
      const rows = kind === "rows" ? { isRows: true } : {};
      for (let generation = 1; isSent && generation <= newest; generation++) {
        if (generationFile(directory, path, generation) === null) continue;
        const file = `${path}.${generation}`;
        yield {
          session: { dialect, root: directory, path, file, generation, ...rows },
          bytes: generationBytes(directory, path, generation),
          sidecarBytes: statOf(sidecarOf(`${directory}/${file}`))?.size ?? 0,
        };
      }
    }
  }
}
