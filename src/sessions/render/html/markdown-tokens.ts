/**
 * Markdown tokens: parses Markdown with `marked`, within our own limits.
 *
 * `marked` finds lists, bold text and so on; it writes no HTML here. For some texts its time grows
 * with the square of their length, and its stack with their nesting. So:
 *
 * MT1  A text over MARKDOWN_CHARS_MAX, and a piece on which `marked` throws, is plain text.
 * MT2  Fenced blocks are found here, at no cost. The text between them is parsed in pieces of
 *      PIECE_CHARS_MAX, cut where a block surely ends; a text that cannot be cut so is plain text.
 * MT3  A piece with more than CONTAINERS_MAX containers on one line, or more than LAZY_LINES_MAX
 *      lines that continue a block, is plain text. Inline text is parsed while that costs no more
 *      than INLINE_COST_MAX in a piece; the rest is plain text too.
 * MT4  HTML is not parsed: it is text like any other.
 */

import { Lexer, type Links, type Token, Tokenizer } from "marked";

/** The longest text parsed as Markdown. People and models write less. */
export const MARKDOWN_CHARS_MAX = 64 * 1024;
export const PIECE_CHARS_MAX = 16 * 1024;
export const CONTAINERS_MAX = 16;
export const LAZY_LINES_MAX = 200;
/** Characters times marks among them: some 30 ns each at the worst, far less in prose. */
export const INLINE_COST_MAX = 4_000_000;

/** A range of the text: its tokens, or null when it is shown as it is. */
export interface MarkdownPiece {
  readonly text: string;
  readonly tokens: readonly Token[] | null;
}

export function markdownPieces(text: string): MarkdownPiece[] {
  if (text.length > MARKDOWN_CHARS_MAX) return [{ text, tokens: null }];
  const blocks = stretchesOf(text.replaceAll("\r\n", "\n")).map(blocksOf);
  // A link may be defined anywhere in a text, so all blocks are parsed before inline text.
  const links: Links = Object.create(null);
  for (const { lexer } of blocks) if (lexer) Object.assign(links, lexer.tokens.links);
  return blocks.map((stretch) => wordsOf(stretch, links));
}

interface Stretch {
  readonly text: string;
  /** The contents of a fenced block; null for anything else. */
  readonly code: Token | null;
}

interface Blocks extends Stretch {
  /** The parsed blocks; null for plain text and for code. */
  readonly lexer: Lexer | null;
}

/**
 * Does not parse HTML (MT4). Most blocks are recognised by their first characters, so that the
 * longest patterns of `marked`, which take 400 kB when compiled, are not used for plain prose.
 */
class TextTokenizer extends Tokenizer {
  override html(): undefined {}
  override tag(): undefined {}

  override blockquote(src: string) {
    return /^ {0,3}>/.test(src) ? super.blockquote(src) : undefined;
  }

  override table(src: string) {
    return /^[^\n]*\n {0,3}[|:-]/.test(src) ? super.table(src) : undefined;
  }

  override lheading(src: string) {
    return /\n {0,3}[=-]+[ \t]*(?:\n|$)/.test(headOf(src)) ? super.lheading(src) : undefined;
  }

  override paragraph(src: string) {
    const raw = headOf(src);
    if (MAY_END.test(raw)) return super.paragraph(src);
    return { type: "paragraph" as const, raw, text: raw, tokens: this.lexer.inline(raw) };
  }
}

/** A further line that may begin another block. */
const MAY_END = /^\s|\n[\s\d\-_*+#>`~<|:=]/;

/** Up to the first empty line. */
function headOf(src: string): string {
  const end = src.indexOf("\n\n");
  return end < 0 ? src.replace(/\n$/, "") : src.slice(0, end);
}

function blocksOf(stretch: Stretch): Blocks {
  const { text, code } = stretch;
  if (code !== null || !isBounded(text)) return { ...stretch, lexer: null };
  try {
    const lexer = new Lexer({ gfm: true, tokenizer: new TextTokenizer() });
    lexer.blockTokens(text, lexer.tokens);
    return { ...stretch, lexer };
  } catch {
    return { ...stretch, lexer: null }; // MT1: shown as it is.
  }
}

function wordsOf({ text, code, lexer }: Blocks, links: Links): MarkdownPiece {
  if (code !== null) return { text, tokens: [code] };
  if (lexer === null) return { text, tokens: null };
  lexer.tokens.links = links;
  let costLeft = INLINE_COST_MAX;
  try {
    for (const { src, tokens } of lexer.inlineQueue) {
      const cost = inlineCost(src);
      if (cost > costLeft) {
        tokens.push({ type: "text", raw: src, text: src });
      } else {
        costLeft -= cost;
        lexer.inlineTokens(src, tokens);
      }
    }
    return { text, tokens: lexer.tokens };
  } catch {
    return { text, tokens: null }; // As above.
  }
}

/**
 * Characters that can begin or end a mark; not the full stops, commas, quotes and dashes of prose.
 */
const MARKS = /[!*_`~[\]()<>\\:|&?]/g;

function inlineCost(text: string): number {
  // With an @ in the text, every letter may begin an address.
  const marks = text.includes("@") ? text.length : (text.match(MARKS)?.length ?? 0);
  return text.length * (1 + marks);
}

const DEEP = new RegExp(`^(?:[ \\t]*(?:>|[-+*]|\\d{1,9}[.)])){${CONTAINERS_MAX + 1}}`, "m");
/** Begins a block, or ends one. */
const OPENING = /^[ \t]*(?:$|[-+*>|#]|\d{1,9}[.)])/;

/** Whether `marked` parses it in bounded time (MT2, MT3). */
function isBounded(text: string): boolean {
  if (text.length > PIECE_CHARS_MAX || DEEP.test(text)) return false;
  let lazyLines = 0;
  for (const line of text.split("\n")) {
    lazyLines = OPENING.test(line) ? 0 : lazyLines + 1;
    if (lazyLines > LAZY_LINES_MAX) return false;
  }
  return true;
}

/** Fenced blocks, and pieces of the text between them. */
function stretchesOf(text: string): Stretch[] {
  const stretches: Stretch[] = [];
  const lines = text.split("\n");
  let from = 0;
  const endProse = (to: number) => {
    for (const piece of piecesOf(lines.slice(from, to)))
      stretches.push({ text: piece, code: null });
  };
  for (let at = 0; at < lines.length; at++) {
    const fenced = fencedAt(lines, at);
    if (!fenced) continue;
    endProse(at);
    stretches.push({ text: fenced.code.raw, code: fenced.code });
    from = fenced.end;
    at = fenced.end - 1;
  }
  endProse(lines.length);
  return stretches;
}

const FENCE = /^(`{3,})([^`]*)$|^(~{3,})(.*)$/;

/** The fenced block that begins at this line, if any: up to its closing fence, or to the end. */
function fencedAt(lines: readonly string[], at: number): { code: Token; end: number } | null {
  const found = FENCE.exec(lines[at] ?? "");
  if (!found) return null;
  const fence = found[1] ?? found[3] ?? "";
  const closing = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`);
  let close = at + 1;
  while (close < lines.length && !closing.test(lines[close] ?? "")) close++;
  const end = Math.min(close + 1, lines.length);
  const raw = lines.slice(at, end).join("\n");
  const lang = (found[2] ?? found[4] ?? "").trim();
  return { code: { type: "code", raw, lang, text: lines.slice(at + 1, close).join("\n") }, end };
}

/** Lines in pieces of PIECE_CHARS_MAX, cut before a line that follows an empty one. */
function piecesOf(lines: readonly string[]): string[] {
  const pieces: string[] = [];
  let from = 0;
  let cut = 0;
  let chars = 0;
  let charsSinceCut = 0;
  for (const [at, line] of lines.entries()) {
    // An indented line may belong to a list item.
    if (at > 0 && lines[at - 1] === "" && /^[^ \t]/.test(line)) {
      cut = at;
      charsSinceCut = 0;
    }
    chars += line.length + 1;
    charsSinceCut += line.length + 1;
    if (chars > PIECE_CHARS_MAX && cut > from) {
      pieces.push(lines.slice(from, cut).join("\n"));
      from = cut;
      chars = charsSinceCut;
    }
  }
  if (from < lines.length) pieces.push(lines.slice(from).join("\n"));
  return pieces;
}
