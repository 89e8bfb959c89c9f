/** Spill: how rows over 8 MiB are split (shared/spill.ts). */

import { getString } from "../shared/fields.ts";
import { spillingBy } from "../shared/spill.ts";
import { ROW_KEYS } from "./complete.ts";

/** Entire's reader fails on lines over 10 MiB. */
export const ROW_BYTES_MAX = 8 * 1024 * 1024;
/** Linking a row later replaces null by a uuid. */
const LINK_BYTES = 34;

export const spilling = spillingBy({
  lineBytesMax: ROW_BYTES_MAX,
  growthBytes: LINK_BYTES,
  contentKey: "message",
  writersKeys: ROW_KEYS,
  stemOf: (row) => getString(row, "uuid") ?? "",
});
