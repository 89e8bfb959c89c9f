/**
 * Man page: `verbatim.1`, from what the commands declare.
 *
 * @import { AnyCommand, CommandOption } from "../../src/cli/command/command.ts"
 */

/** @type {readonly (readonly [string, string])[]} */
const EXIT_CODES = [
  ["0", "Well."],
  ["1", "The command looked for something bad and found it, or (search) found nothing."],
  ["2", "Wrong usage."],
  [
    "3\u20136, 8",
    "A verdict, of the commands that judge signatures; their documentation has them.",
  ],
  ["7", "Not found, ambiguous, held by another, or the disk refused."],
];

/** @type {readonly (readonly [string, string])[]} */
const ENVIRONMENT = [
  ["NO_COLOR", "If it is set and not empty, output has no colours."],
  [
    "VERBATIM_KEY_DIR",
    "Where your own keys are kept, an absolute path, in place of verbatim/keys.",
  ],
  [
    "VERBATIM_TRANSCRIPT_INTEGRITY",
    "strict or lenient: whether a session with unsigned last lines may be continued.",
  ],
  [
    "ANTHROPIC_BASE_URL, OPENAI_BASE_URL, GOOGLE_GEMINI_BASE_URL",
    "The servers that proxy passes calls on to. It sets them for the command that it runs.",
  ],
  ["VERBATIM_SENDER", "As whom \\-\\-to sends: user@machine"],
  ["VERBATIM_TOKEN", "A token of the server that --to names, to send sessions there."],
  [
    "VERBATIM_CLOSE_MS",
    "How many milliseconds a command that ends still sends to that server. Default: 2000.",
  ],
  ["VERBATIM_TRASH_DAYS", "How long removed sessions can be restored, in days. Default: 30."],
  ["VERBATIM_REMEMBER", "0: the places of recorded sessions are neither remembered nor used."],
  [
    "VERBATIM_TRUST_LOCKS",
    "1: locks of network file systems and FUSE reach every writer, so logs may be shared there.",
  ],
  [
    "XDG_CONFIG_HOME",
    "Where your settings, trust and keys are kept, in verbatim/; default: ~/.config.",
  ],
  [
    "XDG_STATE_HOME",
    "Where pinned heads and remembered stores are, in verbatim/; default: ~/.local/state.",
  ],
  ["XDG_DATA_HOME", "Where a server keeps its streams, in verbatim/; default: ~/.local/share."],
  [
    "XDG_CACHE_HOME",
    "Where the index of sessions is kept, in verbatim/catalog.db and search.db; default: ~/.cache.",
  ],
  ["CLAUDE_PROJECT_DIR", "Below which directory the hooks of Claude Code are recorded."],
  [
    "CLAUDE_CONFIG_DIR",
    "Where hooks install finds settings.json of Claude Code; default: ~/.claude.",
  ],
  ["CODEX_HOME", "Where hooks install finds hooks.json of Codex; default: ~/.codex."],
  [
    "OTEL_EXPORTER_OTLP_HEADERS",
    "What export --format otlp sends with each request: name=value,...",
  ],
];

/**
 * The page as troff with the macros of man(7).
 *
 * @param {readonly AnyCommand[]} commands
 * @param {{ readonly version: string }} facts
 */
export function manPage(commands, { version }) {
  const shared = sharedOptions(commands);
  return [
    // No date: the same sources make the same page.
    `.TH VERBATIM 1 "" ${quoted(`verbatim-log ${version}`)} "Verbatim"`,
    ".SH NAME",
    String.raw`verbatim \- the record of what AI agents said and did`,
    ".SH SYNOPSIS",
    ".B verbatim",
    ".I command",
    String.raw`[\fIoption\fR ...] [\fIargument\fR ...]`,
    ".SH DESCRIPTION",
    text("Records sessions of AI agents as append-only JSONL, and reads, checks and mends them."),
    text("Results go to stdout, everything else to stderr. A session is named by its id, by the"),
    text("beginning of one, or by the path of its log."),
    ".SH COMMANDS",
    ...commands.flatMap((command) => sections(command, "verbatim")),
    ...(shared.length === 0 ? [] : [".SH OPTIONS OF MANY COMMANDS"]),
    ...shared.flatMap((option) => item(flagsOf(option), optionText(option))),
    ".SH EXIT STATUS",
    ...EXIT_CODES.flatMap(([code, means]) => item(bold(code), means)),
    ".SH ENVIRONMENT",
    ...ENVIRONMENT.flatMap(([name, means]) => item(bold(name), means)),
    "",
  ].join("\n");
}

/**
 * @param {AnyCommand} command
 * @param {string} above
 * @returns {string[]}
 */
function sections(command, above) {
  const names = `${above} ${command.name}`;
  const below = (command.commands ?? []).flatMap((each) => sections(each, names));
  if (!("run" in command)) return below;
  const { args = [], summary, examples } = command;
  const options = command.options.filter(({ isShared }) => isShared !== true);
  const usage = [
    names,
    ...(command.options.length > 0 ? ["[options]"] : []),
    ...args.map((a) => a.name),
  ];
  return [
    `.SS ${quoted(usage.join(" "))}`,
    `${text(summary)}.`,
    ...args.flatMap(({ name, summary }) => item(italic(name), summary)),
    ...options.flatMap((option) => item(flagsOf(option), optionText(option))),
    ".PP",
    "Examples:",
    ".PP",
    ".in +4n",
    ".nf",
    ...examples.map(text),
    ".fi",
    ".in",
    ...below,
  ];
}

/**
 * Options that many commands have, each once.
 *
 * @param {readonly AnyCommand[]} commands
 * @returns {CommandOption[]}
 */
function sharedOptions(commands) {
  const all = commands.flatMap((command) => [
    ...("run" in command ? command.options.filter(({ isShared }) => isShared === true) : []),
    ...sharedOptions(command.commands ?? []),
  ]);
  return [...new Map(all.map((option) => [option.flags, option])).values()];
}

/**
 * @param {string} word
 * @param {string} explained
 */
function item(word, explained) {
  return [".TP", word, text(explained)];
}

/** @param {CommandOption} option */
function flagsOf({ flags }) {
  return flags
    .split(" ")
    .map((word) => (word.startsWith("-") ? bold(word) : italic(word.replace(/[<>]/g, ""))))
    .join(" ");
}

/** @param {CommandOption} option */
function optionText({ summary, choices, default: byDefault }) {
  const values = choices ? `; one of ${choices.join(", ")}` : "";
  return `${summary}${values}${byDefault === undefined ? "" : `; default: ${byDefault}`}`;
}

/** @param {string} word */
function bold(word) {
  return `\\fB${text(word)}\\fR`;
}

/** @param {string} word */
function italic(word) {
  return `\\fI${text(word)}\\fR`;
}

/**
 * Escapes text for troff: no escape sequence, no request at the start of a line.
 *
 * @param {string} line
 */
function text(line) {
  return line
    .replace(/[\\\-'`~^]/g, (character) => ESCAPES[character] ?? character)
    .replace(/[^ -~]/gu, (character) => `\\[u${codeOf(character)}]`)
    .replace(/^\./, "\\&.");
}

/**
 * Characters that troff would change: to an escape, a hyphen, a curly quote, an accent.
 *
 * @type {Readonly<Record<string, string>>}
 */
const ESCAPES = {
  "\\": "\\e",
  "-": "\\-",
  "'": "\\(aq",
  "`": "\\(ga",
  "~": "\\(ti",
  "^": "\\(ha",
};

/** @param {string} character */
function codeOf(character) {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

/** @param {string} argument */
function quoted(argument) {
  return `"${text(argument).replaceAll('"', "\\(dq")}"`;
}
