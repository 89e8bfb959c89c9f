/**
 * Entire derived files: updates `prompt.txt` and `context.md` with a session's log.
 *
 * prompt.txt is written once, before the row with the first prompt is acknowledged. context.md is
 * written at the end of a session that we wrote to. Both can be rebuilt from the log (B1), and
 * nothing else in the project's `.entire` is touched.
 */

import { dirname } from "node:path";
import type { Directory } from "../../../core/base/files.ts";
import { type ByteOffset, START } from "../../../core/base/offset.ts";
import type { Durability } from "../../../core/log/log-options.ts";
import type { Native } from "../../../core/model/entry.ts";
import type { DerivedFiles } from "../../facets/files.ts";
import { ExpectedLines } from "../../files/expected-lines.ts";
import { promptIn } from "../context.ts";
import { CONTEXT_NAME, PROMPT_NAME } from "../session-id.ts";
import {
  type EntireLog,
  entireTexts,
  firstPrompt,
  hasPrompt,
  writeContext,
  writePrompt,
  writePromptNow,
} from "./session-files.ts";

export interface EntireDerivedParts extends EntireLog {
  readonly sessionId: string;
  readonly durability: Durability;
  /** Used in context.md if no row names a model. */
  readonly model: string | null;
  readonly onWarning: (warning: string) => void;
}

export class EntireDerivedFiles implements DerivedFiles {
  readonly pausesShared = true;
  readonly #parts: EntireDerivedParts;
  readonly #expected = new ExpectedLines();
  #directory: Directory | null = null;
  /** The prompt was found; rows need no further check. */
  #isPrompted = false;
  /** Found, but not written yet. */
  #prompt: string | null = null;
  /** End of the part of the log searched for a prompt. */
  #searchedTo: ByteOffset = START;
  #hasAppended = false;

  constructor(parts: EntireDerivedParts) {
    this.#parts = parts;
  }

  expect(line: Uint8Array, native: Native): void {
    if (!this.#isPrompted) this.#expected.add(line, native);
  }

  async caughtUp(end: ByteOffset): Promise<void> {
    try {
      const { host, root, logId } = this.#parts;
      const path = `${root}/${dirname(logId)}`;
      this.#directory ??= await host.files.openDirectory(path, { create: true, root });
      this.#isPrompted ||= hasPrompt(this.#directory);
      if (this.#isPrompted) return;
      const from = this.#searchedTo;
      this.#searchedTo = end;
      this.#prompt = await firstPrompt(this.#parts, this.#directory, from, end);
      if (this.#parts.durability === "disk") await this.madeDurable();
      else this.#writeNow();
    } catch (cause) {
      this.#warn(PROMPT_NAME, cause);
    }
  }

  appended(lines: Uint8Array, length: number, start: ByteOffset): void {
    this.#hasAppended = true;
    this.#searchedTo = (start + length) as ByteOffset;
    if (this.#isPrompted) return;
    for (const native of this.#expected.take(lines, length)) this.#prompt ??= promptIn(native);
    if (this.#parts.durability === "os") this.#writeNow();
  }

  async madeDurable(): Promise<void> {
    const [directory, prompt] = [this.#directory, this.#prompt];
    if (this.#isPrompted || prompt === null || !directory) return;
    this.#isPrompted = true;
    try {
      await writePrompt(directory, prompt);
    } catch (cause) {
      this.#warn(PROMPT_NAME, cause);
    }
  }

  #writeNow(): void {
    const [directory, prompt] = [this.#directory, this.#prompt];
    if (this.#isPrompted || prompt === null || !directory) return;
    this.#isPrompted = true;
    try {
      writePromptNow(directory, prompt);
    } catch (cause) {
      this.#warn(PROMPT_NAME, cause);
    }
  }

  async pause(): Promise<void> {
    if (!this.#hasAppended || !this.#directory) return;
    const { sessionId, model, durability } = this.#parts;
    try {
      const { context } = await entireTexts(this.#parts, this.#directory);
      await writeContext(this.#directory, context.text(sessionId, model), durability);
    } catch (cause) {
      this.#warn(CONTEXT_NAME, cause);
    }
  }

  notPaused(cause: unknown): void {
    if (this.#hasAppended) this.#warn(CONTEXT_NAME, cause);
  }

  close(): void {
    this.#directory?.close();
    this.#directory = null;
  }

  #warn(name: string, cause: unknown): void {
    const { sessionId, onWarning } = this.#parts;
    onWarning(
      `${name} of ${sessionId} could not be written; \`verbatim repair\` makes it from the log: ` +
        String(cause),
    );
  }
}
