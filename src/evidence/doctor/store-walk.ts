/**
 * Store walk: the directories of a store that hold or may hold logs, each listed once.
 *
 * `dialects/find.ts` finds logs fast and skips everything else. This walks the same directories and
 * reports what it cannot enter: a link is not followed, but reported.
 */

import type { Seen, Surroundings } from "../../core/base/node-surroundings.ts";
import { type Finding, finding, troubleOf } from "../../core/findings/finding.ts";
import { FIND_DEPTH_MAX, type Layout } from "../../dialects/find.ts";

export interface WalkedDirectory {
  readonly path: string;
  /** The path below the store's root, in segments. */
  readonly below: readonly string[];
  readonly entries: readonly Seen[];
}

/** A directory, or what is wrong where one should be. */
export type WalkStep = { readonly directory: WalkedDirectory } | { readonly finding: Finding };

/** `isFile` says which names are files: links there are reported with the files. */
export function* walkStore(
  surroundings: Surroundings,
  root: string,
  layout: Layout,
  isFile: (name: string) => boolean,
): Generator<WalkStep> {
  const walk = new Walk(surroundings, root, isFile);
  for (let depth = 1; depth <= layout.under.length; depth++) {
    const below = layout.under.slice(0, depth);
    const kind = surroundings.look(`${root}/${below.join("/")}`)?.kind;
    if (kind === "link") yield walk.refused(below);
    if (kind !== "directory") return;
  }
  if ("levels" in layout) yield* walk.levels(layout.under, layout.levels);
  else yield* walk.below(layout.under, layout.depthMax ?? FIND_DEPTH_MAX);
}

class Walk {
  readonly #surroundings: Surroundings;
  readonly #root: string;
  readonly #isFile: (name: string) => boolean;

  constructor(surroundings: Surroundings, root: string, isFile: (name: string) => boolean) {
    this.#surroundings = surroundings;
    this.#root = root;
    this.#isFile = isFile;
  }

  /** A directory and all below it. */
  *below(below: readonly string[], depthLeft: number): Generator<WalkStep> {
    const step = this.#list(below);
    if (!step) return;
    yield step;
    if (!("directory" in step) || depthLeft === 0) return;
    for (const { name, kind } of step.directory.entries) {
      if (kind === "directory") yield* this.below([...below, name], depthLeft - 1);
      else if (kind === "link" && this.#leadsAway([...below, name])) {
        yield this.refused([...below, name]);
      }
    }
  }

  /** The directories this many levels below one; null matches any name. */
  *levels(below: readonly string[], levels: readonly (string | null)[]): Generator<WalkStep> {
    const step = this.#list(below);
    if (!step) return;
    const [level, ...deeper] = levels;
    if (level === undefined || !("directory" in step)) {
      yield step;
      return;
    }
    for (const { name, kind } of step.directory.entries) {
      if (level !== null && name !== level) continue;
      if (kind === "directory") yield* this.levels([...below, name], deeper);
      else if (kind === "link" && this.#leadsAway([...below, name])) {
        yield this.refused([...below, name]);
      }
    }
  }

  refused(below: readonly string[]): WalkStep {
    const path = this.#path(below);
    const detail = `${below.at(-1)} is a symbolic link to a directory: what is in it was not examined`;
    return { finding: finding("SYMLINK_REFUSED", { session: null, path }, detail) };
  }

  #list(below: readonly string[]): WalkStep | null {
    const path = this.#path(below);
    try {
      return { directory: { path, below, entries: this.#surroundings.list(path) } };
    } catch (cause) {
      const trouble = troubleOf({ session: null, path }, cause);
      return trouble && { finding: trouble };
    }
  }

  /** Whether it links to a directory elsewhere. A link within this store is only a second name. */
  #leadsAway(below: readonly string[]): boolean {
    if (this.#isFile(below.at(-1) ?? "")) return false;
    const target = this.#surroundings.directoryBehind(this.#path(below));
    if (target === null) return false;
    const root = this.#surroundings.directoryBehind(this.#root) ?? this.#root;
    return !`${target}/`.startsWith(`${root}/`);
  }

  #path(below: readonly string[]): string {
    return [this.#root, ...below].join("/");
  }
}
