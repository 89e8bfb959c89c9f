/** Start: what lines of our own layouts say about their session. */

import type { Native } from "../../core/model/entry.ts";
import { LABEL_LIMITS, LABEL_NAMES } from "../../core/model/entry-check.ts";
import type { SessionDetails } from "../facets/reading.ts";
import type { Writing } from "../facets/writing.ts";
import { isObject } from "../shared/fields.ts";

export const START: NonNullable<Writing["start"]> = {
  says: [...LABEL_NAMES, "parent"],
  line: (start) => ({ type: "entry", ...start, entry: { kind: "start" } }),
};

/** What a line says about its session; invalid fields are left out. */
export function about(native: Native): SessionDetails | null {
  const { title, user, parent, tags, metadata } = native;
  const isShort = (value: object) => JSON.stringify(value).length <= LABEL_LIMITS.metadataCharsMax;
  const said: SessionDetails = {
    ...(isFilled(title) && { chosenTitle: title }),
    ...(isFilled(user) && { user }),
    ...(isFilled(parent) && { parent }),
    ...(Array.isArray(tags) && { tags: tags.filter(isFilled).slice(0, LABEL_LIMITS.tagsMax) }),
    ...(isObject(metadata) && isShort(metadata) && { metadata }),
  };
  return Object.keys(said).length === 0 ? null : said;
}

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
