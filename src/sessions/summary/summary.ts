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

import type { Mutable } from "../../core/base/files.ts";
import { oneLine } from "../../core/base/one-line.ts";
import type { Aside, Entry, Metadata, Part } from "../../core/model/entry.ts";
import { erasureIn } from "../../core/model/erasure.ts";
import type { SessionStatus, Summary } from "../../core/model/summary.ts";
import { type TurnMark, type TurnState, Turns } from "../../core/model/turns.ts";
import { typedText } from "../../dialects/shared/typed-text.ts";
import { ChangedLinesFold, type ChangedLinesState } from "./file-edits.ts";
import { type ProjectFacts, projectFacts } from "./project.ts";
import { UsageFold, type UsageState } from "./usage-fold.ts";

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
  repository: null,
  directory: null,
  branch: null,
  linesAdded: null,
  linesRemoved: null,
  erased: null,
  tags: [],
  user: null,
  metadata: null,
  lines: 0,
  badLines: 0,
};

/** Facts that the entries do not have: the agent, and the status while there is no end. */
export interface SummaryFacts {
  readonly agent: string | null;
  readonly status?: SessionStatus | null;
  readonly parent?: string | null;
  /** Default: by what lines say alone. */
  readonly projectOf?: (about: LearnedFacts) => ProjectFacts;
}

/** What lines say about the whole session (dialects/facets/reading.ts, `about`). */
export interface LearnedFacts {
  readonly title?: string;
  readonly chosenTitle?: string;
  readonly summary?: string;
  readonly cwd?: string;
  readonly branch?: string;
  readonly remote?: string;
  readonly parent?: string;
  readonly tags?: readonly string[];
  readonly user?: string;
  readonly metadata?: Metadata;
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

/** The longest title, agent or model, in characters. */
export const SUMMARY_TEXT_MAX = 200;
/** Sessions that a session started and that are listed below it. */
const CHILDREN_MAX = 1_000;

interface Facts {
  readonly title: string | null;
  /** What names the session if there is no other prompt: a bare command, an agent's task. */
  readonly command: string | null;
  readonly task: string | null;
  readonly about: Mutable<LearnedFacts>;
  readonly model: string | null;
  /** Of another agent's conversation; used when there is no other. */
  readonly agents: { title: string | null; model: string | null };
  readonly hasOwn: boolean;
  readonly outcome: "completed" | "error" | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  readonly erased: Summary["erased"];
  readonly children: readonly string[];
  readonly lines: number;
  readonly badLines: number;
}

const NO_FACTS: Facts = {
  title: null,
  command: null,
  task: null,
  about: {},
  model: null,
  agents: { title: null, model: null },
  hasOwn: false,
  outcome: null,
  createdAt: null,
  updatedAt: null,
  erased: null,
  children: [],
  lines: 0,
  badLines: 0,
};

/** A fold as JSON, to continue later: its size is bounded, however long the session. */
export interface SummaryState {
  readonly facts: Facts;
  readonly turns: TurnState;
  readonly usage: UsageState;
  readonly changed: ChangedLinesState;
}

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
  readonly #facts: Mutable<Facts>;
  readonly #turns: Turns;
  readonly #usage: UsageFold;
  readonly #changed: ChangedLinesFold;

  constructor({ facts, turns, usage, changed }: Partial<SummaryState> = {}) {
    const { about, agents } = facts ?? NO_FACTS;
    this.#facts = { ...(facts ?? NO_FACTS), about: { ...about }, agents: { ...agents } };
    this.#turns = new Turns(turns);
    this.#usage = new UsageFold(usage);
    this.#changed = new ChangedLinesFold(changed);
  }

  state(): SummaryState {
    const { about, agents } = this.#facts;
    const facts = { ...this.#facts, about: { ...about }, agents: { ...agents } };
    const [usage, changed] = [this.#usage.state(), this.#changed.state()];
    return { facts, turns: this.#turns.state, usage, changed };
  }

  /**
   * `aside`: why it is not part of the conversation, or null. `mark`: its role in the turns
   *.
   */
  add(entry: Entry, aside: Aside | null = null, mark: TurnMark = null): void {
    this.#facts.lines++;
    this.#turns.note(mark);
    if (entry.at !== null) {
      this.#facts.createdAt ??= entry.at;
      this.#facts.updatedAt = entry.at;
    }
    const erasure = erasureIn(entry);
    if (erasure) this.#facts.erased = { at: erasure.at, reason: erasure.reason };
    this.#changed.add(entry.parts);
    for (const part of entry.parts) if (part.type === "child") this.#addChild(part.session);
    if (aside === "other_agent") this.#addAgents(entry);
    else if (entry.kind === "message") this.#facts.hasOwn = true;
    if (entry.model !== null && aside === null) this.#facts.model = entry.model;
    this.#usage.add(entry);
    if (entry.kind === "end") this.#facts.outcome = entry.outcome;
    else if (entry.kind !== "other") this.#goOn(entry, aside === null);
  }

  #addChild(session: string): void {
    const { children } = this.#facts;
    if (children.length >= CHILDREN_MAX || children.includes(session)) return;
    this.#facts.children = [...children, session];
  }

  #addAgents({ kind, role, saidBy, parts, model }: Entry): void {
    if (model !== null) this.#facts.agents.model = model;
    const isAsked = kind === "message" && role === "user" && saidBy === "agent";
    if (isAsked) this.#facts.agents.title ??= titleOf(parts);
  }

  /** What a line says about the whole session: the first directory, the last of all else. */
  learn(learned: LearnedFacts): void {
    const { title, chosenTitle, summary, cwd, branch, remote, parent } = learned;
    const { createdAt, updatedAt, tags, user, metadata } = learned;
    const about = this.#facts.about;
    if (createdAt) about.createdAt = createdAt;
    if (updatedAt) about.updatedAt = updatedAt;
    if (title) about.title = title;
    if (chosenTitle) about.chosenTitle = chosenTitle;
    if (summary && this.#facts.hasOwn) about.summary = summary;
    if (cwd) about.cwd ??= cwd;
    if (branch) about.branch = branch;
    if (remote) about.remote = remote;
    if (parent) about.parent = parent;
    if (tags) about.tags = tags;
    if (user) about.user = user;
    if (metadata) about.metadata = metadata;
  }

  /** The sessions that this one says it started. */
  get children(): readonly string[] {
    return this.#facts.children;
  }

  /** A line that is not an entry. */
  addBadLine(): void {
    this.#facts.lines++;
    this.#facts.badLines++;
  }

  summary({ agent, status = null, parent = null, projectOf = projectSaid }: SummaryFacts): Summary {
    const { title, model } = this.#facts.hasOwn ? { title: null, model: null } : this.#facts.agents;
    const modelName = this.#facts.model ?? model;
    const about = this.#facts.about;
    const createdAt = this.#facts.createdAt ?? about.createdAt ?? null;
    const updatedAt = this.#facts.updatedAt ?? about.updatedAt ?? null;
    return {
      title:
        this.#saidTitle() ?? this.#facts.title ?? this.#facts.command ?? this.#facts.task ?? title,
      agent: agent === null ? null : lineOf(agent),
      model: modelName === null ? null : lineOf(modelName),
      status: this.#facts.outcome ?? status,
      turns: this.#turns.count,
      inputTokens: this.#usage.total("inputTokens"),
      outputTokens: this.#usage.total("outputTokens"),
      totalTokens: this.#usage.total("totalTokens"),
      spend: this.#usage.total("spend"),
      createdAt,
      updatedAt,
      durationMs: durationMs(createdAt, updatedAt),
      parent: lineOf(parent ?? about.parent ?? ""),
      ...projectOf(about),
      branch: lineOf(about.branch ?? ""),
      linesAdded: this.#changed.sum?.added ?? null,
      linesRemoved: this.#changed.sum?.removed ?? null,
      erased: this.#facts.erased,
      tags: (about.tags ?? []).map(lineOf).filter((tag) => tag !== null),
      user: lineOf(about.user ?? ""),
      metadata: about.metadata ?? null,
      lines: this.#facts.lines,
      badLines: this.#facts.badLines,
    };
  }

  /** The program's own title, without mark-up. */
  #saidTitle(): string | null {
    const { chosenTitle, title, summary } = this.#facts.about;
    for (const text of [chosenTitle, title, summary]) {
      const line = lineOf(typedText(text ?? "") ?? "");
      if (line !== null) return line;
    }
    return null;
  }

  #goOn({ kind, role, parts, saidBy }: Entry, isSaid: boolean): void {
    this.#facts.outcome = null; // The session continued after its end.
    if (kind === "message" && isSaid && role === "user") this.#name(parts, saidBy);
  }

  /** Takes a prompt as the title, unless there is one. */
  #name(parts: readonly Part[], saidBy: Entry["saidBy"]): void {
    if (saidBy === "agent") this.#facts.task ??= titleOf(parts);
    if (saidBy || this.#facts.title !== null) return;
    const prompt = titleOf(parts);
    if (isBareCommand(prompt)) this.#facts.command ??= prompt;
    else this.#facts.title = prompt;
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
function projectSaid(about: LearnedFacts): ProjectFacts {
  return projectFacts(about, null, () => null);
}

function lineOf(text: string): string | null {
  return oneLine(text, SUMMARY_TEXT_MAX) || null;
}
