/** Masked copy: reads the file of a stranger. Its entries are shown, and none is believed (MC1). */

import {
  MASKED_HEADER,
  type MaskedCopy,
  type MaskedCount,
  type MaskedItem,
} from "../../../src/client/masked-copy.ts";

const HEADER = new TextEncoder().encode(`${MASKED_HEADER}\n`);

/** Whether a file begins as a masked copy: it is never judged as a disclosed one. */
export async function isMaskedCopy(file: Blob): Promise<boolean> {
  const begin = new Uint8Array(await file.slice(0, HEADER.length).arrayBuffer());
  return HEADER.every((byte, n) => byte === begin[n]);
}

/** Throws a sentence that says what is wrong. */
export async function readMaskedCopy(file: Blob): Promise<MaskedCopy> {
  const [, ...lines] = (await file.text()).split("\n");
  if (lines.pop() !== "") throw new Error("it is cut off");
  const { lines: count, full, withheld } = Object(objectOf(lines.pop()).end) as Fields;
  if (count !== lines.length) throw new Error("it is cut off");
  const items = lines.map((line) => objectOf(line) as unknown as MaskedItem);
  return { items, lines: items.length, full: Number(full), withheld: countsOf(withheld) };
}

type Fields = Readonly<Record<string, unknown>>;

function objectOf(line = ""): Fields {
  try {
    return Object(JSON.parse(line)) as Fields;
  } catch {
    throw new Error("a line is not JSON");
  }
}

function countsOf(withheld: unknown): MaskedCount[] {
  return (Array.isArray(withheld) ? withheld : []).map((each) => {
    const { rule, reason, lines, strings } = Object(each) as Fields;
    const counts = { lines: Number(lines), strings: Number(strings) };
    return { rule: String(rule), reason: String(reason), ...counts };
  });
}
