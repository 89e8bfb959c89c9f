/** Listed aside: whose words a line holds, for those who list and count what was said. */

import type { Aside } from "../model/entry.ts";
import type { Dialect, Native } from "./dialect.ts";

/**
 * Why a line is neither the user's word nor the answer to it; null when it is. That is more than
 * stands beside the conversation: what a program puts into the user's mouth goes to the model, too.
 */
export function listedAside(dialect: Dialect, native: Native, id: string | null): Aside | null {
  const aside = dialect.asideOf?.(native, id) ?? null;
  return aside === null && dialect.isProgramsPrompt?.(native) ? "program" : aside;
}
