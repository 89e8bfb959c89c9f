/**
 * homeagent: the layout of HomeAgent's transcript writer. Page: docs/formats/homeagent.md.
 *
 * Root: the base directory (`~/.homeagent`). A neutral session id is `<agentId>/<sessionId>`.
 */

import type { Dialect } from "../dialect.ts";
import { complete } from "./complete.ts";
import { decode } from "./decode.ts";
import { express } from "./express.ts";
import { idAt, logPath } from "./session-id.ts";
import { signing } from "./signing.ts";

export const homeagent: Dialect = {
  name: "homeagent",
  signing,
  logPath,
  idAt,
  decode,
  express,
  complete,
};
