/**
 * A reader that follows Entire's rules, as they were measured on crafted files: it finds in a file what
 * Entire finds there. It models Go's JSON, which is stricter than ours about types and more lenient
 * about bytes.
 */

/** What Entire reads from a transcript. */
export interface EntireReading {
  /** Lines that parsed. */
  readonly lines: number;
  readonly prompts: readonly string[];
  /** Texts of assistants. */
  readonly texts: readonly string[];
  readonly modifiedFiles: readonly string[];
  /** Null if a line was too long for the counting pass. */
  readonly tokens: EntireTokens | null;
}

export interface EntireTokens {
  readonly input: number;
  readonly output: number;
  readonly cacheCreation: number;
  readonly cacheRead: number;
  readonly apiCalls: number;
}

type Fields = Readonly<Record<string, unknown>>;

interface Row {
  readonly type: string;
  readonly message: Fields;
  readonly raw: string;
}

/** The longest line that the counting pass accepts. */
export const SCANNED_LINE_BYTES_MAX = 10 * 1024 * 1024;
const WRITING_TOOLS = ["Write", "Edit", "NotebookEdit", "mcp__acp__Write", "mcp__acp__Edit"];
const COUNTS = [
  "input_tokens",
  "output_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
] as const;

export function readAsEntire(file: Uint8Array): EntireReading {
  const lines = splitAtLf(Buffer.from(file));
  const rows = lines.flatMap((line) => rowOf(line) ?? []);
  const isScanned = lines.every((line) => line.length <= SCANNED_LINE_BYTES_MAX);
  const answers = rows.filter(({ type }) => type === "assistant");
  const blocks = answers.flatMap(({ message }) => blocksOf(message.content));
  return {
    lines: rows.length,
    prompts: rows.flatMap(({ type, message }) => (type === "user" ? promptOf(message) : [])),
    texts: blocks.flatMap((block) => (block.type === "text" ? [String(block.text)] : [])),
    modifiedFiles: isScanned ? blocks.flatMap(modifiedFile) : [],
    tokens: isScanned ? tokensOf(answers) : null,
  };
}

function splitAtLf(file: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < file.length; ) {
    const lf = file.indexOf(0x0a, from);
    const to = lf === -1 ? file.length : lf;
    lines.push(file.subarray(from, to));
    from = to + 1;
  }
  return lines;
}

/** A line as Go reads it into its struct; null for one that it skips. */
function rowOf(line: Buffer): Row | null {
  // Bytes that are not UTF-8 become replacement characters, and so do lone surrogates.
  const raw = line.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(raw); // A BOM is not JSON, for both.
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { type = "", uuid = "", message = {} } = wellFormed(value) as Fields;
  if (typeof type !== "string" || (uuid !== null && typeof uuid !== "string")) return null;
  const isObject = typeof message === "object" && message !== null && !Array.isArray(message);
  return { type, message: isObject ? (message as Fields) : {}, raw };
}

function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, wellFormed(held)]));
}

function promptOf({ content }: Fields): string[] {
  const texts = typeof content === "string" ? [content] : textsOf(content);
  const prompt = texts.join("\n\n");
  return prompt === "" ? [] : [prompt];
}

function textsOf(content: unknown): string[] {
  return blocksOf(content).flatMap((block) => (block.type === "text" ? [String(block.text)] : []));
}

/** Content that is a text does not fit into Go's list of blocks: all of it is lost. */
function blocksOf(content: unknown): Fields[] {
  return Array.isArray(content) ? (content as Fields[]) : [];
}

function modifiedFile(block: Fields): string[] {
  if (block.type !== "tool_use" || !WRITING_TOOLS.includes(String(block.name))) return [];
  const { file_path, notebook_path } = (block.input ?? {}) as Fields;
  const path = file_path ?? notebook_path;
  return typeof path === "string" && path !== "" ? [path] : [];
}

/** A message counts once, by its row with the most output; one without an id does not count. */
function tokensOf(answers: readonly Row[]): EntireTokens {
  const messages = new Map<string, number[]>();
  for (const { message, raw } of answers) {
    const counts = countsOf(message.usage, raw);
    const { id } = message;
    if (typeof id !== "string" || id === "" || counts === null) continue;
    if ((counts[1] ?? 0) >= (messages.get(id)?.[1] ?? 0)) messages.set(id, counts);
  }
  const sum = (at: number) =>
    [...messages.values()].reduce((all, each) => all + (each[at] ?? 0), 0);
  const [input, output, cacheCreation, cacheRead] = [sum(0), sum(1), sum(2), sum(3)];
  return { input, output, cacheCreation, cacheRead, apiCalls: messages.size };
}

/** Null if one of them is not an integer in the text itself: Go then ignores the whole message. */
function countsOf(usage: unknown, raw: string): number[] | null {
  if (typeof usage !== "object" || usage === null) return null;
  const given = usage as Fields;
  for (const name of COUNTS) {
    const [, text = "0"] = new RegExp(`"${name}"\\s*:\\s*([^,}\\s]+)`).exec(raw) ?? [];
    if (text !== "null" && !/^-?\d+$/.test(text)) return null;
  }
  return COUNTS.map((name) => Number(given[name] ?? 0));
}
