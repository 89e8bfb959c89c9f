/**
 * verbatim: our own neutral layout, for programs that have no other layout to match. Each line holds
 * one entry whole, in the shape of `entry` lines of the sdk dialect. Page: docs/formats/verbatim.md.
 *
 * Root: the project.
 */

import { checkedEntry } from "../../model/entry-check.ts";
import { invalidEntry } from "../../model/plain-json.ts";
import type { Dialect, Native, WriterFacts } from "../dialect.ts";
import { getObject, isObject } from "../fields.ts";
import { dated } from "../new-ids.ts";
import { complete as completeLine } from "../sdk/complete.ts";
import { decode } from "../sdk/decode.ts";
import { express } from "../sdk/express.ts";
import { signingAs } from "../sdk/signing.ts";
import { ENDING, idAt, logPath, SESSIONS_PATH } from "./session-id.ts";

const TYPE = "entry";

export const verbatim: Dialect<"verbatim"> = {
  name: "verbatim",
  layout: {
    under: SESSIONS_PATH,
    levels: [],
    isLog: (name) => name.endsWith(ENDING),
    idAt,
  },
  newIds: dated,
  signing: signingAs("verbatim"),
  logPath,
  idAt,
  decode,
  isOwn: (value) => isObject(value) && value.type === TYPE && decode(value).entry !== null,
  express,
  complete,
  isSilent: ({ type }) => type === TYPE,
};

/** Accepts a whole line, or an entry alone, which it checks as `append` does. */
function complete(given: Native, facts: WriterFacts): Native {
  if (!isObject(given)) throw invalidEntry("entry", "expected object");
  if (given.type === undefined) {
    const [line = {}] = express(checkedEntry(given));
    return completeLine(line, facts);
  }
  if (given.type !== TYPE) throw invalidEntry("type", `expected ${TYPE}`);
  const { at, ...entry } = checkedEntry(getObject(given, "entry"));
  return completeLine({ ...given, at: given.at ?? at ?? undefined, entry }, facts);
}
