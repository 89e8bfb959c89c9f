/**
 * Summary: a listing's facts about a session, folded from its entries one at a time.
 *
 * Pure, in constant memory: a session of any length is read once, and nothing of it is kept.
 *
 * - Every text is one line without control characters or terminal escapes, so that a listing can
 *   print what an agent wrote; and SQLite returns it unchanged (no NUL, well-formed).
 * - Usage is counted as usage-fold.ts says.
 * - Entries aside from the conversation (`aside`) give no title and no model; their usage counts. A
 *   log with nothing but another agent's conversation is that agent's own: its title is the task it
 *   got from the agent that started it.
 * - Turns are counted like checkpoints count them, by the dialect's mark of each line (`mark`).
 */

import type { Mutable } from "../base/files.ts";
import { oneLine } from "../base/one-line.ts";
import type { Aside, Entry, Part } from "../model/entry.ts";
import type { SessionStatus, Summary } from "../model/summary.ts";
import { type TurnMark, Turns } from "../model/turns.ts";
import { typedText } from "../model/typed-text.ts";
import { ChangedLinesFold } from "./changed-lines.ts";
import { repositoryName } from "./repository-name.ts";
import { UsageFold } from "./usage-fold.ts";

/** The summary of a session that was not read. */
export const NOTHING_KNOWN: Summary = {
  title: null,
  agent: null,
  model: null,
  status: null,
  turns: 0,
  inputTokens: null,
  outputTokens: null,
  totalTokens: null,
  spend: null,
  createdAt: null,
  updatedAt: null,
  durationMs: null,
  parent: null,
  project: null,
  branch: null,
  repository: null,
  linesAdded: null,
  linesRemoved: null,
  lines: 0,
  badLines: 0,
};

/** Facts that the entries do not have: the agent, and the status while there is no end. */
export interface SummaryFacts {
  readonly agent: string | null;
  readonly status?: SessionStatus | null;
  readonly parent?: string | null;
  /** The repository of a directory, for a session that does not name its own. */
  readonly repositoryOf?: (directory: string) => string | null;
}

/** What lines say about the whole session (dialects/agent-program.ts, `About`). */
export interface LearnedFacts {
  readonly title?: string;
  readonly chosenTitle?: string;
  readonly summary?: string;
  readonly cwd?: string;
  readonly branch?: string;
  readonly remote?: string;
  readonly parent?: string;
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

/** The longest title, agent or model, in characters. */
export const SUMMARY_TEXT_MAX = 200;

/**
 * Folds a session's entries, in order, into a summary.
 *
 * @example
 * const fold = new SummaryFold();
 * for await (const entry of session.entries()) {
 *   fold.add(entry, null, session.dialect.signing.turnMark(entry.native, session.id));
 * }
 * fold.summary({ agent: "cook" });
 */
export class SummaryFold {
  #title: string | null = null;
  /** What names the session if there is no other prompt: a bare command, an agent's task. */
  #command: string | null = null;
  #task: string | null = null;
  readonly #about: Mutable<LearnedFacts> = {};
  #model: string | null = null;
  /** Of another agent's conversation; used when there is no other. */
  #agents: { title: string | null; model: string | null } = { title: null, model: null };
  #hasOwn = false;
  #outcome: "completed" | "error" | null = null;
  readonly #turns = new Turns();
  #createdAt: string | null = null;
  #updatedAt: string | null = null;
  #lines = 0;
  #badLines = 0;
  readonly #usage = new UsageFold();
  readonly #changed = new ChangedLinesFold();

  /**
   * `aside`: why it is not part of the conversation, or null. `mark`: its role in the turns
   *.
   */
  add(entry: Entry, aside: Aside | null = null, mark: TurnMark = null): void {
    this.#lines++;
    this.#turns.note(mark);
    if (entry.at !== null) {
      this.#createdAt ??= entry.at;
      this.#updatedAt = entry.at;
    }
    this.#changed.add(entry.parts);
    if (aside === "other_agent") this.#addAgents(entry);
    else if (entry.kind === "message") this.#hasOwn = true;
    if (entry.model !== null && aside === null) this.#model = entry.model;
    this.#usage.add(entry);
    if (entry.kind === "end") this.#outcome = entry.outcome;
    else if (entry.kind !== "other") this.#goOn(entry, aside === null);
  }

  #addAgents({ kind, role, saidBy, parts, model }: Entry): void {
    if (model !== null) this.#agents.model = model;
    const isAsked = kind === "message" && role === "user" && saidBy === "agent";
    if (isAsked) this.#agents.title ??= titleOf(parts);
  }

  /** What a line says about the whole session: the first directory, the last of all else. */
  learn(learned: LearnedFacts): void {
    const { title, chosenTitle, summary, cwd, branch, remote, parent } = learned;
    const { createdAt, updatedAt } = learned;
    const about = this.#about;
    if (createdAt) about.createdAt = createdAt;
    if (updatedAt) about.updatedAt = updatedAt;
    if (title) about.title = title;
    if (chosenTitle) about.chosenTitle = chosenTitle;
    if (summary && this.#hasOwn) about.summary = summary;
    if (cwd) about.cwd ??= cwd;
    if (branch) about.branch = branch;
    if (remote) about.remote = remote;
    if (parent) about.parent = parent;
  }

  /** A line that is not an entry. */
  addBadLine(): void {
    this.#lines++;
    this.#badLines++;
  }

  summary({ agent, status = null, parent = null, repositoryOf }: SummaryFacts): Summary {
    const { title, model } = this.#hasOwn ? { title: null, model: null } : this.#agents;
    const named = this.#model ?? model;
    const about = this.#about;
    const createdAt = this.#createdAt ?? about.createdAt ?? null;
    const updatedAt = this.#updatedAt ?? about.updatedAt ?? null;
    return {
      title: this.#saidTitle() ?? this.#title ?? this.#command ?? this.#task ?? title,
      agent: agent === null ? null : lineOf(agent),
      model: named === null ? null : lineOf(named),
      status: this.#outcome ?? status,
      turns: this.#turns.count,
      inputTokens: this.#usage.total("inputTokens"),
      outputTokens: this.#usage.total("outputTokens"),
      totalTokens: this.#usage.total("totalTokens"),
      spend: this.#usage.total("spend"),
      createdAt,
      updatedAt,
      durationMs: durationMs(createdAt, updatedAt),
      parent: lineOf(parent ?? about.parent ?? ""),
      project: lineOf(about.cwd ?? ""),
      branch: lineOf(about.branch ?? ""),
      repository: repositoryName(about.remote ?? "") ?? repositoryOf?.(about.cwd ?? "") ?? null,
      linesAdded: this.#changed.sum?.added ?? null,
      linesRemoved: this.#changed.sum?.removed ?? null,
      lines: this.#lines,
      badLines: this.#badLines,
    };
  }

  /** The program's own title, without mark-up. */
  #saidTitle(): string | null {
    const { chosenTitle, title, summary } = this.#about;
    for (const said of [chosenTitle, title, summary]) {
      const line = lineOf(typedText(said ?? "") ?? "");
      if (line !== null) return line;
    }
    return null;
  }

  #goOn({ kind, role, parts, saidBy }: Entry, isSaid: boolean): void {
    this.#outcome = null; // The session continued after its end.
    if (kind === "message" && isSaid && role === "user") this.#name(parts, saidBy);
  }

  /** Takes a prompt as the title, unless there is one. */
  #name(parts: readonly Part[], saidBy: Entry["saidBy"]): void {
    if (saidBy === "agent") this.#task ??= titleOf(parts);
    if (saidBy || this.#title !== null) return;
    const prompt = titleOf(parts);
    if (isBareCommand(prompt)) this.#command ??= prompt;
    else this.#title = prompt;
  }
}

/** Null when a clock was set back in between. */
function durationMs(from: string | null, to: string | null): number | null {
  const ms = from === null || to === null ? Number.NaN : Date.parse(to) - Date.parse(from);
  return ms >= 0 ? ms : null;
}

function titleOf(parts: readonly Part[]): string | null {
  for (const part of parts) {
    const typed = part.type === "text" ? typedText(part.text) : null;
    const text = typed === null ? null : lineOf(typed);
    if (text !== null) return text;
  }
  return null;
}

/** `/clear` says nothing about what follows. */
function isBareCommand(prompt: string | null): boolean {
  return prompt !== null && /^\/[\w:.-]+$/.test(prompt);
}

/** A text as one printable line of at most SUMMARY_TEXT_MAX characters; null when none is left. */
function lineOf(text: string): string | null {
  return oneLine(text, SUMMARY_TEXT_MAX) || null;
}
