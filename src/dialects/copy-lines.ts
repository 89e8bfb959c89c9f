/**
 * Copy lines: what the lines of a disclosed copy mean, for the page that shows one. Of each dialect
 * that can be signed only the decoder, loaded when a copy needs it. Pure: it runs in a browser.
 */

import type { DecodedValue, Reading } from "./facets/reading.ts";
import { toolViews } from "./tool-table.ts";

export interface CopyReading extends Pick<Reading, "resultViews" | "tools"> {
  decode(value: unknown): DecodedValue;
}

const READINGS: Readonly<Record<string, () => Promise<CopyReading>>> = {
  verbatim: () => import("./verbatim/decode.ts"),
  sdk: () => import("./verbatim/decode.ts"),
  rye: () => import("./rye/decode.ts"),
  homeagent: () => import("./homeagent/decode.ts"),
  entire: async () => {
    const { decode } = await import("./entire/decode.ts");
    const { resultViews, tools } = await import("./entire/claude-rows.ts");
    return { decode, resultViews, tools };
  },
  claude: async () => {
    const { decode } = await import("./hooks/lines.ts");
    const { resultViews, tools } = await import("./entire/claude-rows.ts");
    return { decode, resultViews, tools };
  },
};

/** Null for a dialect whose lines are shown as they are. */
export async function copyReading(dialect: string): Promise<CopyReading | null> {
  const load = Object.hasOwn(READINGS, dialect) ? READINGS[dialect] : undefined;
  return (await load?.()) ?? null;
}

/** A line as the sessions API gives it, but for its place; null if it is no entry. */
export function copyItem({ decode, tools, resultViews }: CopyReading, value: unknown) {
  const { entry } = decode(value);
  if (entry === null) return null;
  const { kind, role, at, native } = entry;
  const views = { tools: toolViews(tools, entry.parts), results: resultViews?.(native) ?? [] };
  return { kind, role, at, fault: null, aside: null, ...views, entry };
}
