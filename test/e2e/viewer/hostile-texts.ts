/** Hostile texts for the viewer: the whole corpus, in few enough entries to be quick. */

import { XSS_CORPUS } from "../xss-corpus.ts";

/** The corpus, several texts per entry: html-page.test.ts has tested them one by one. */
export const HOSTILE = Array.from({ length: Math.ceil(XSS_CORPUS.length / 8) }, (_, at) => {
  return XSS_CORPUS.slice(8 * at, 8 * at + 8).join("\n\n");
});
