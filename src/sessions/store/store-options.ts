/** Store options: the options of a store and of a new session. */

import {
  badOption,
  checkChoice,
  checkData,
  checkKind,
  checkOptions,
  type OptionKind,
  type OptionKinds,
} from "../../core/base/choice.ts";
import { checkLogChoices, type Durability, type LogMode } from "../../core/log/log-options.ts";
import type { SessionLabels } from "../../core/model/entry.ts";
import type { AllOptions, DialectOptions } from "../../dialects/all.ts";
import {
  type AgentName,
  DEFAULT_DIALECT,
  type DialectName,
  type LayoutName,
  READ_DIALECT_NAMES,
  registryEntry,
} from "../../dialects/registry.ts";
import type { SignedHead } from "../../trust/proof/checkpoint.ts";
import type { SignOption } from "./store-signing.ts";

export interface CommonOptions {
  /** The project. Default: the current directory, or the one where the dialect has its own. */
  readonly root?: string;
  readonly durability?: Durability;
  /** Default: `exclusive`: while a session is open to append, only this process can append. */
  readonly mode?: LogMode;
  readonly lockWaitMs?: number;
  /**
   * The locks of the file system reach every writer: allows `shared` on network file systems and
   * FUSE. Default: whether the environment has `VERBATIM_TRUST_LOCKS=1`.
   */
  readonly trustsLocks?: boolean;
  /** The agent of the entries, as lists name it: rye's directive, HomeAgent's agent id. */
  readonly agent?: string;
  /**
   * Signs every session that is appended to: at the end of every turn (`true`, `"turn"`) or of
   * every append. Creates the user's key if there is none. Default: false.
   */
  readonly sign?: SignOption;
  /**
   * A server that sessions are sent to, in the background: an append is durable here and never waits
   * for it. An address such as `https://verbatim.example.com/laptop`; the token is `VERBATIM_TOKEN`.
   */
  readonly remote?: string | { readonly url: string; readonly token?: string };
  /**
   * Commands find these sessions from every directory. Default: true, except in CI, in the temporary
   * directory, and while the environment has `VERBATIM_REMEMBER=0`.
   */
  readonly remember?: boolean;
  /** Path of the session index, a cache. Default: the user's own. */
  readonly catalogPath?: string;
  /** Problems with derived files and caches; no data is lost. Default: a process warning. */
  readonly onWarning?: (warning: string) => void;
}

export type OpenStoreOptions = CommonOptions &
  (
    | { [Name in NameWithOptions]: { readonly dialect: Name } & OnlyOwn<Name> }[NameWithOptions]
    | ({
        /**
         * Default: our own layout. The others are for programs whose layout you need to match, and
         * agents, whose sessions are only read.
         */
        readonly dialect?: LayoutName | AgentName | undefined;
      } & { readonly [Other in OwnNames]?: never })
  );

/** The options of opening a session by its id. */
export interface OpenOptions {
  readonly agent?: string;
}

/** Dialects that have options of their own. */
type NameWithOptions = {
  [Name in DialectName]: keyof DialectOptions[Name] extends never ? never : Name;
}[DialectName];
type OwnNames = { [Name in DialectName]: keyof DialectOptions[Name] }[DialectName];
/** The options of one dialect; options of another do not compile. */
type OnlyOwn<Name extends DialectName> = DialectOptions[Name] & {
  readonly [Other in Exclude<OwnNames, keyof DialectOptions[Name]>]?: never;
};

/** For programs that choose the dialect at run time. */
export interface StoreOptions extends CommonOptions, AllOptions {
  readonly dialect?: string | undefined;
}

export interface CreateOptions extends SessionLabels {
  /** Default: a new id in the dialect's form. */
  readonly id?: string;
  /** The agent of its entries. Default: the store's. */
  readonly agent?: string;
  /**
   * The id of the session that starts this one, in the same store. Lists and the viewer show both
   * as a tree. For our own layouts and rye; title, tags, user and metadata are for our own.
   */
  readonly parent?: string;
  /**
   * rye: waits for the next second if this second's id is taken. Default: false, which takes the
   * next second's id at once.
   */
  readonly wait?: boolean;
}

export interface BeginOptions extends CreateOptions {
  /** Of a fork: the head of its parent's log where it begins. */
  readonly from?: SignedHead | null;
}

const SIGN_OPTIONS: readonly SignOption[] = [true, false, "turn", "append"];

const COMMON_OPTIONS: OptionKinds<CommonOptions & { dialect: string }> = {
  dialect: "any",
  root: "text",
  durability: "any",
  mode: "any",
  lockWaitMs: "count",
  trustsLocks: "boolean",
  agent: "string",
  sign: "any",
  remote: "any",
  remember: "boolean",
  catalogPath: "text",
  onWarning: "function",
};

const BEGIN_OPTIONS: OptionKinds<BeginOptions> = {
  id: "string",
  agent: "string",
  parent: "string",
  title: "string",
  tags: "any",
  user: "string",
  metadata: "object",
  wait: "boolean",
  from: "any",
};

const OPEN_OPTIONS: OptionKinds<OpenOptions> = { agent: "string" };

/** Refuses unknown options and invalid values with BAD_SETTING. */
export function checkStoreOptions(options: StoreOptions): void {
  checkData("openStore", options, "options");
  checkChoice("dialect", options.dialect, READ_DIALECT_NAMES);
  const dialectOptions = registryEntry(options.dialect ?? DEFAULT_DIALECT).options ?? {};
  refuseOthers(options, dialectOptions);
  const kinds = Object.keys(dialectOptions).map((name) => [name, "any"] as const);
  checkOptions("openStore", options, { ...COMMON_OPTIONS, ...Object.fromEntries(kinds) });
  for (const [name, allowed] of Object.entries<OptionKind | readonly unknown[]>(dialectOptions)) {
    const value = options[name as keyof StoreOptions];
    if (value === undefined) continue;
    if (typeof allowed === "string") checkKind(name, value, allowed);
    else checkChoice(name, value, allowed);
  }
  checkLogChoices(options);
  checkChoice("sign", options.sign, SIGN_OPTIONS);
}

/** Refuses an option of another dialect, naming that dialect. */
function refuseOthers(options: StoreOptions, dialectOptions: object): void {
  for (const dialect of READ_DIALECT_NAMES) {
    for (const name of Object.keys(registryEntry(dialect).options ?? {})) {
      if (Object.hasOwn(dialectOptions, name) || options[name as keyof StoreOptions] === undefined)
        continue;
      throw badOption(name, `is an option of the dialect ${dialect} alone; leave it out`);
    }
  }
}

/** The same for a new session. */
export function checkBeginOptions(options: BeginOptions): void {
  checkOptions("create", options, BEGIN_OPTIONS);
}

/** The same for a session opened by id. */
export function checkOpening(id: unknown, options: unknown): void {
  checkKind("id", id, "string");
  checkOptions("open", options, OPEN_OPTIONS);
}
