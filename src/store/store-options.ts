/** Store options: what a store, and a session that begins in it, can be told. */

import {
  badOption,
  checkChoice,
  checkKind,
  checkOptions,
  type OptionKinds,
} from "../base/choice.ts";
import type { DialectName } from "../dialects/dialect.ts";
import type { Envelope } from "../dialects/rye/dialect.ts";
import { checkLogChoices, type Durability, type LogMode } from "../log/log-options.ts";
import { READ_DIALECT_NAMES } from "../model/dialect-names.ts";
import type { ForeignHead } from "../proof/checkpoint.ts";
import type { SignOption } from "./store-signing.ts";

export interface StoreOptions {
  /** Default: `verbatim`, our own layout. The others are for programs whose layout you need to match. */
  readonly dialect?: DialectName;
  /** The project; homeagent: its base. Default: the current directory; `~/.homeagent`. */
  readonly root?: string;
  readonly durability?: Durability;
  /** Default: `exclusive`, a session is this process's while it is open to append. */
  readonly mode?: LogMode;
  readonly lockWaitMs?: number;
  /** Who is at work when an entry does not say: rye's directive, HomeAgent's agent id. */
  readonly agent?: string;
  /** entire: who answers when a message does not say. */
  readonly model?: string;
  /** entire: of the program that records. Default: this package's. */
  readonly version?: string;
  /** rye: which envelope new threads get. Default: `flat`. */
  readonly envelope?: Envelope;
  /** rye: the root is the directory of threads itself, not the project. Default: false. */
  readonly isThreadsRoot?: boolean;
  /** rye: whether `transcript.md` grows as events land. Default: true. */
  readonly markdown?: boolean;
  /**
   * Signs every session that is appended to: at the end of every turn (`true`, `"turn"`) or of every
   * append. The user's key is made when there is none. Default: false.
   */
  readonly sign?: SignOption;
  /**
   * rye, where `sign` is on: goes on with threads that the Python original signed, by keys that the
   * user allowed that format. All of what stands there is stated as found. Default: refuses them.
   */
  readonly profile?: "rye";
  /** The index of sessions, a cache. Default: the user's own. */
  readonly catalogPath?: string;
  /** What went wrong beside the log, where nothing is lost. Default: a process warning. */
  readonly onWarning?: (warning: string) => void;
}

export interface CreateOptions {
  /** Default: a new one, after the dialect's fashion. */
  readonly id?: string;
  readonly agent?: string;
  /**
   * rye: waits for the next second when this one's id is taken. Default: false, takes the next
   * second's id at once.
   */
  readonly wait?: boolean;
}

export interface BeginOptions extends CreateOptions {
  /** Of a fork: the head of its parent's log that it begins from. */
  readonly from?: ForeignHead | null;
}

const ENVELOPES: readonly Envelope[] = ["flat", "payload"];
const SIGN_OPTIONS: readonly SignOption[] = [true, false, "turn", "append"];

const STORE_OPTIONS: OptionKinds<StoreOptions> = {
  dialect: "any",
  root: "text",
  durability: "any",
  mode: "any",
  lockWaitMs: "count",
  agent: "string",
  model: "string",
  version: "string",
  envelope: "any",
  isThreadsRoot: "boolean",
  markdown: "boolean",
  sign: "any",
  profile: "any",
  catalogPath: "text",
  onWarning: "function",
};

const BEGIN_OPTIONS: OptionKinds<BeginOptions> = {
  id: "string",
  agent: "string",
  wait: "boolean",
  from: "any",
};

/** The options that only one dialect has. */
const OWN_OPTIONS = {
  envelope: "rye",
  isThreadsRoot: "rye",
  markdown: "rye",
  profile: "rye",
  model: "entire",
  version: "entire",
} as const satisfies Partial<Record<keyof StoreOptions, DialectName>>;

type OwnOptions = typeof OWN_OPTIONS;
/** The options of one dialect; those of another cannot be given. */
type OptionsOf<Name extends DialectName> = {
  readonly [Option in keyof OwnOptions]?: OwnOptions[Option] extends Name
    ? NonNullable<StoreOptions[Option]>
    : never;
};

/** Options of a store, as its dialect takes them. */
export type OpenStoreOptions = Omit<StoreOptions, "dialect" | keyof OwnOptions> &
  (
    | ({ readonly dialect: "rye" } & OptionsOf<"rye">)
    | ({ readonly dialect: "entire" } & OptionsOf<"entire">)
    | ({ readonly dialect?: Exclude<DialectName, "rye" | "entire"> } & OptionsOf<never>)
  );

/** Refuses with BAD_SETTING what is no option of a store, or none of an option's choices. */
export function checkStoreOptions(options: StoreOptions): void {
  checkOptions("openStore", options, STORE_OPTIONS);
  checkChoice("dialect", options.dialect, READ_DIALECT_NAMES);
  for (const [name, dialect] of Object.entries(OWN_OPTIONS)) {
    const isGiven = options[name as keyof OwnOptions] !== undefined;
    if (isGiven && dialect !== options.dialect) {
      throw badOption(name, `is an option of the dialect ${dialect} alone; leave it out`);
    }
  }
  checkLogChoices(options);
  checkChoice("envelope", options.envelope, ENVELOPES);
  checkChoice("sign", options.sign, SIGN_OPTIONS);
  checkChoice("profile", options.profile, ["rye"]);
}

/** The same for a session that begins. */
export function checkBeginOptions(options: BeginOptions): void {
  checkOptions("create", options, BEGIN_OPTIONS);
}

/** The same for one that is opened by its id. */
export function checkOpening(id: unknown, options: unknown): void {
  checkKind("id", id, "string");
  checkOptions("open", options, { agent: "string" });
}
