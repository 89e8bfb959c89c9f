/**
 * Recognise: names the program that wrote a file, from the beginning of the file, for messages to
 * people.
 */

import { type Format, OTHER_FORMATS } from "./program-formats.ts";
import { isObject } from "./shared/fields.ts";

/** Formats that Verbatim reads, for a file given with the wrong dialect. Loaded for a message. */
async function ownFormats(): Promise<readonly Format[]> {
  const [homeagent, sdk, rye, entire] = await Promise.all([
    import("./homeagent/decode.ts"),
    import("./verbatim/decode.ts"),
    import("./rye/decode.ts"),
    import("./entire/decode.ts"),
  ]);
  return [
    { name: "a HomeAgent session", line: (line) => homeagent.decode(line).entry !== null },
    { name: "a log of the dialect sdk", line: (line) => sdk.decode(line).entry !== null },
    { name: "a rye thread", line: (line) => rye.decode(line).entry !== null },
    { name: "a Claude Code transcript", line: entire.isTranscriptRow },
  ];
}

/** The beginning of a file. */
export interface Beginning {
  /** The first lines that are JSON, parsed. */
  readonly values: readonly unknown[];
  /** The first bytes, one character per byte. */
  readonly head: string;
}

/** The format of a file, as in "this is …"; null if none is recognised. */
export async function recognise({ values, head }: Beginning): Promise<string | null> {
  const lines = values.filter(isObject);
  const isOf = ({ line, head: isHead }: Format) =>
    isHead?.(head) === true || lines.some((value) => line?.(value) === true);
  const format = OTHER_FORMATS.find(isOf) ?? (await ownFormats()).find(isOf);
  return format?.name ?? null;
}
