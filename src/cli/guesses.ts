/**
 * Guesses: names that are no commands, and what people who type them want. A file of that name is
 * shown by its path: `verbatim ./list`.
 */

interface Guess {
  /** What to type instead. */
  readonly use: string;
  /** What that does, if its name does not say it. */
  readonly does?: string;
  readonly names: readonly string[];
}

const WANTED: readonly Guess[] = [
  { use: "verbatim ls", names: ["list", "sessions", "history", "log", "logs", "recent"] },
  { use: "verbatim show SESSION", names: ["view", "cat", "read", "print", "less"] },
  {
    use: "verbatim show SESSION --follow",
    names: ["tail", "follow", "watch", "live"],
  },
  { use: "verbatim search WORDS", names: ["find", "grep", "query"] },
  {
    use: "verbatim usage",
    does: "counts tokens and cost",
    names: ["cost", "costs", "tokens", "spend", "price", "prices", "budget"],
  },
  {
    use: "verbatim usage directive --agent rye",
    does: "counts by directive; `verbatim usage` by day",
    names: ["stats"],
  },
  { use: "verbatim agents", names: ["projects", "where", "info"] },
  {
    use: "verbatim serve --open",
    does: "shows sessions in a browser",
    names: ["ui", "web", "browser", "viewer", "gui", "dashboard", "start", "app"],
  },
  { use: "verbatim guard", names: ["keep", "save", "protect", "archive"] },
  { use: "verbatim guard status", does: "says what is guarded", names: ["status"] },
  {
    use: "verbatim guard send --to URL",
    names: ["send", "push", "sync", "upload", "deliver"],
  },
  {
    use: "verbatim restore SESSION",
    does: "takes a session out of the trash, or writes the guard's copy back",
    names: ["recover", "undelete", "undo"],
  },
  {
    use: "verbatim export SESSION",
    names: ["render", "convert", "markdown", "md", "html", "csv", "jsonl", "otlp", "etf"],
  },
  {
    use: "verbatim export SESSION --format bundle",
    names: ["handoff", "hand-off", "bundle", "pack"],
  },
  { use: "verbatim import FILE", names: ["unpack", "unbundle"] },
  { use: "verbatim resume SESSION", names: ["continue", "fork"] },
  { use: "verbatim hooks install", names: ["hook", "install", "init", "setup"] },
  { use: "verbatim verify SESSION", names: ["check", "validate", "audit"] },
  {
    use: "verbatim redact prove SESSION",
    does: "proves single entries",
    names: ["prove", "proof"],
  },
  {
    use: "verbatim redact SESSION --in-place",
    does: "erases a part for good; `verbatim rm SESSION` removes a session",
    names: ["erase", "forget"],
  },
  { use: "verbatim rm SESSION", names: ["delete", "remove", "del"] },
  { use: "verbatim rm --purge SESSION", does: "removes a session for good", names: ["purge"] },
  {
    use: "verbatim rm --older-than 180d --dry-run",
    does: "says what a rule would remove; Verbatim removes nothing by itself",
    names: ["prune", "clean", "cleanup", "gc", "retention"],
  },
  { use: "verbatim rm --list", does: "lists the trash", names: ["trash", "bin", "recycle"] },
  {
    use: "verbatim rm --hold SESSION --reason WHY",
    does: "keeps a session from being removed",
    names: ["hold", "legal-hold"],
  },
  { use: "verbatim scan", does: "finds keys and personal data", names: ["secrets", "leaks"] },
  { use: "verbatim share SESSION", names: ["publish", "link"] },
  { use: "verbatim keys ls", names: ["key", "key-ls"] },
  {
    use: "verbatim record --sign",
    does: "signs while it records; `verbatim doctor --fix --vouch SESSION` signs later",
    names: ["sign"],
  },
  { use: "verbatim keys trust", names: ["trust"] },
  { use: "verbatim keys head", names: ["head", "heads", "pin", "pins"] },
  { use: "verbatim doctor --fix SESSION", names: ["repair", "fix", "mend", "fsck"] },
  { use: "verbatim server backup DIRECTORY", names: ["backup"] },
  { use: "verbatim server copy --from PLACE --to PLACE", names: ["copy", "cp", "migrate"] },
  {
    use: "verbatim server token create",
    does: "makes a token of a server; VERBATIM_TOKEN holds one to send with",
    names: ["token", "tokens", "login", "logout", "auth"],
  },
  {
    use: "verbatim open",
    does: "opens the viewer, in which you tag, rename and star sessions; --tag finds them",
    names: ["tag", "tags", "label", "note", "notes", "star", "rename"],
  },
  {
    use: "verbatim help options",
    does: "lists options and variables; there is no other configuration to start with",
    names: ["config", "configure", "settings", "env", "options"],
  },
  { use: "verbatim --version", names: ["version", "about"] },
  {
    use: "npm install --global verbatim-log@latest",
    names: ["update", "upgrade"],
  },
  { use: "verbatim --help", names: ["commands", "man", "docs", "usage-help"] },
];

const BY_NAME: ReadonlyMap<string, Guess> = new Map(
  WANTED.flatMap((wanted) => wanted.names.map((name) => [name, wanted] as const)),
);

export const GUESSED_NAMES: readonly string[] = [...BY_NAME.keys()];

/** What to do instead of typing a name that is no command; null: that is not known. */
export function hintFor(name: string): string | null {
  const wanted = BY_NAME.get(name);
  if (wanted === undefined) return null;
  const { use, does } = wanted;
  return does === undefined ? `use \`${use}\`` : `\`${use}\` ${does}`;
}
