/** Listed aside: whether a line is the user's or the model's own, for listings and counts. */

import type { Aside } from "../model/entry.ts";
import type { Dialect, Native } from "./dialect.ts";

/**
 * Why a line is neither the user's message nor the answer to it; null if it is. Excludes more than
 * `asideOf`: a program's message in the user's name is part of the conversation, but excluded here.
 */
export function listedAside(dialect: Dialect, native: Native, id: string | null): Aside | null {
  const aside = dialect.asideOf?.(native, id) ?? null;
  return aside === null && dialect.isProgramsPrompt?.(native) ? "program" : aside;
}
