/** Recording: `verbatim record --dialect rye`. */

import type { Recording } from "../../facets/writing.ts";

export const recording: Recording = {
  options: [
    {
      name: "directive",
      flags: "--directive <name>",
      summary: "name of the directive; part of a new session id",
    },
    {
      name: "envelope",
      flags: "--envelope <shape>",
      summary: "the shape of a new thread's lines",
      choices: ["flat", "payload"],
    },
    { name: "markdown", flags: "--no-markdown", summary: "write no transcript.md" },
  ],
  storeOptions: ({ envelope, markdown }) => ({
    markdown: markdown !== "no",
    ...(envelope === undefined ? {} : { envelope }),
  }),
  async session({ directive, session }, { host, root }) {
    if (session === undefined) {
      if (directive !== undefined) return { isNew: true, agent: directive };
      return { missing: "rye needs --directive, or --session with an existing thread" };
    }
    const { directiveOf } = await import("./thread-files.ts");
    const agent = directive ?? (await directiveOf(host, root, session));
    if (agent !== null) return { id: session, agent };
    return { missing: `the directive of ${session} is unknown; give --directive` };
  },
  start: { type: "thread_start", inputs: {} },
};
