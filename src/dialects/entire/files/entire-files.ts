/**
 * Entire files: implements `DialectFiles` for prompt.txt and context.md.
 *
 * Entire derived files: updates `prompt.txt` and `context.md` with a session's log.
 *
 * prompt.txt is written once, before the row with the first prompt is acknowledged. context.md is
 * written at the end of a session that we wrote to. Both can be rebuilt from the log (B1), and
 * nothing else in the project's `.entire` is touched.
 */

import { dirname } from "node:path";
import type { Directory } from "../../../core/base/files.ts";
import { type ByteOffset, START } from "../../../core/base/offset.ts";
import { readSmallFile } from "../../../core/base/replace.ts";
import { type Finding, finding, troubleOf } from "../../../core/findings/finding.ts";
import type { Durability } from "../../../core/log/log-options.ts";
import type { Entry, Native } from "../../../core/model/entry.ts";
import {
  asideText,
  type DerivedFiles,
  type DerivedKind,
  type DerivedLook,
  type DialectFiles,
  findingPlaceOf,
  type SessionInRepair,
} from "../../facets/files.ts";
import { copyAside } from "../../files/aside.ts";
import { ExpectedLines } from "../../files/expected-lines.ts";
import { ContextFold, isOurContext, promptIn } from "../context.ts";
import type { EntireOptions } from "../options.ts";
import { CONTEXT_NAME, LOG_NAME, logPath, PROMPT_NAME } from "../session-id.ts";
import {
  type EntireLog,
  entireTexts,
  firstPrompt,
  hasPrompt,
  writeContext,
  writePrompt,
  writePromptNow,
} from "./session-files.ts";

const entireDerived: DerivedKind = {
  logName: LOG_NAME,
  names: [PROMPT_NAME, CONTEXT_NAME],
  isOwn: (name) => /^[\w-]+\.\d+\.spill$/.test(name),
  isOurs: (files) => files.some(({ name }) => name === `${LOG_NAME}.lock`),
  look: async (patient) => new EntireLook(patient),
  mend: (patient, { path }) =>
    path.endsWith(`/${PROMPT_NAME}`) ? mendPrompt(patient) : mendContext(patient),
};

/**
 * Checks that prompt.txt and context.md of our sessions exist, and that context.md
 * matches the log. Repair writes both for a session whose process died.
 *
 * Sessions that Entire itself wrote have no lock file next to their log. They, and everything else
 * in the project's `.entire`, are neither checked nor mended. As in writing (session-files.ts,
 * EF1), an existing prompt.txt is right, whichever program wrote it, and another program's
 * context.md stays.
 */
class EntireLook implements DerivedLook {
  readonly #patient: SessionInRepair;
  readonly #context = new ContextFold();
  #hasEntries = false;
  #hasPrompt = false;

  constructor(patient: SessionInRepair) {
    this.#patient = patient;
  }

  add(value: unknown, entry: Entry | null): undefined {
    this.#hasPrompt ||= promptIn(value) !== null;
    if (!entry) return;
    this.#hasEntries = true;
    this.#context.add(entry);
  }

  async findings(mayBeLive: boolean): Promise<Finding[]> {
    // context.md is written when a session ends, prompt.txt with the first prompt.
    const context = mayBeLive ? null : await this.#contextFinding();
    return [this.#promptFinding(), context].filter((each) => each !== null);
  }

  close(): void {}

  #promptFinding(): Finding | null {
    if (!this.#hasPrompt || hasPrompt(this.#patient.directory)) return null;
    const at = findingPlaceOf(this.#patient, PROMPT_NAME);
    return finding("DERIVED_MISSING", at, `${PROMPT_NAME} is missing`);
  }

  async #contextFinding(): Promise<Finding | null> {
    const { id, directory } = this.#patient;
    const at = findingPlaceOf(this.#patient, CONTEXT_NAME);
    if (!this.#hasEntries) return null;
    try {
      const text = await readSmallFile(directory, CONTEXT_NAME);
      if (text === null) {
        return finding("DERIVED_MISSING", at, `${CONTEXT_NAME} is missing: the session died`);
      }
      if (!isOurContext(text) || this.#context.isSaidBy(text, id)) return null;
      return finding("DERIVED_STALE", at, `${CONTEXT_NAME} is not what the log makes of it`);
    } catch (cause) {
      return troubleOf(at, cause);
    }
  }
}

async function mendPrompt(patient: SessionInRepair): Promise<string> {
  const { prompt } = await textsOf(patient);
  if (prompt !== null) await writePrompt(patient.directory, prompt);
  return `made ${PROMPT_NAME} from the log`;
}

async function mendContext(patient: SessionInRepair): Promise<string> {
  const { id, directory } = patient;
  const { context } = await textsOf(patient);
  const aside = await copyAside(directory, CONTEXT_NAME);
  await writeContext(directory, context.text(id, null), "disk");
  return `made ${CONTEXT_NAME} from the log${asideText(aside)}`;
}

function textsOf({ host, root, id, directory }: SessionInRepair) {
  return entireTexts({ host, root, logId: logPath(id).join("/") }, directory);
}

export const entireFiles: DialectFiles = {
  openStore({ options, ...store }) {
    const { model = null } = options as EntireOptions;
    return {
      openDerived: ({ id, logId }) =>
        new EntireDerivedFiles({ ...store, sessionId: id, logId, model }),
    };
  },
  derived: entireDerived,
};

export interface EntireDerivedParts extends EntireLog {
  readonly sessionId: string;
  readonly durability: Durability;
  /** Used in context.md if no row names a model. */
  readonly model: string | null;
  readonly onWarning: (warning: string) => void;
}

class EntireDerivedFiles implements DerivedFiles {
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
      `${name} of ${sessionId} could not be written; \`verbatim doctor --fix\` makes it from the log: ` +
        String(cause),
    );
  }
}
