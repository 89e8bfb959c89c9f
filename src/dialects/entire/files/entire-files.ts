/** Entire files: implements `DialectFiles` for prompt.txt and context.md. */

import { readSmallFile } from "../../../core/base/replace.ts";
import { type Finding, finding, troubleOf } from "../../../core/findings/finding.ts";
import type { Entry } from "../../../core/model/entry.ts";
import type { DialectFiles } from "../../facets/files.ts";
import {
  asideText,
  type DerivedKind,
  type DerivedLook,
  findingPlaceOf,
  type SessionInRepair,
} from "../../facets/files.ts";
import { copyAside } from "../../files/aside.ts";
import { ContextFold, isOurContext, promptIn } from "../context.ts";
import type { EntireOptions } from "../options.ts";
import { CONTEXT_NAME, LOG_NAME, logPath, PROMPT_NAME } from "../session-id.ts";
import { EntireDerivedFiles } from "./derived-files.ts";
import { entireTexts, hasPrompt, writeContext, writePrompt } from "./session-files.ts";

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
