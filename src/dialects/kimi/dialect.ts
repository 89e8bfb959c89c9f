/**
 * kimi: the sessions that Kimi Code, and the older Kimi CLI, keep in the user's home. Page:
 * docs/formats/kimi.md.
 */

import { readerDialect } from "../reader.ts";
import { about, compaction, decode, isOwn, isProgramsPrompt, takingBack } from "./decode.ts";
import { files } from "./files/state.ts";
import { idAt, layout, logPath, nameOf } from "./session-id.ts";
import { tools } from "./tools.ts";

export const kimi = readerDialect("kimi", {
  tools,
  program: {
    label: "Kimi Code",
    roots({ environment: { KIMI_CODE_HOME, KIMI_SHARE_DIR }, home }) {
      const at = (own: string | undefined, name: string) =>
        own?.startsWith("/") ? own : `${home}/${name}`;
      return [at(KIMI_CODE_HOME, ".kimi-code"), at(KIMI_SHARE_DIR, ".kimi")];
    },
    changes: "grows",
  },
  layout,
  logPath,
  idAt,
  nameOf,
  decode,
  isOwn,
  about,
  isProgramsPrompt,
  compaction,
  takingBack,
  files: async () => files,
});
