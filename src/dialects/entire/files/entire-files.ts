/** Entire files: implements `DialectFiles` for prompt.txt and context.md. */

import type { DialectFiles } from "../../dialect-files.ts";
import type { EntireOptions } from "../options.ts";
import { entireDerived } from "./check-files.ts";
import { EntireDerivedFiles } from "./derived-files.ts";

export const entireFiles: DialectFiles = {
  openStore({ options, ...store }) {
    const { model = null } = options as EntireOptions;
    return {
      openDerived: ({ id, logId }) =>
        new EntireDerivedFiles({ ...store, sessionId: id, logId, model }),
    };
  },
  derived: entireDerived,
};
