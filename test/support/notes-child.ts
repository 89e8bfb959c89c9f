/** Notes child: writes notes into a file, to be started several times at once. */

import { nodeHost } from "../../src/core/base/node-host.ts";
import { changeNotes } from "../../src/sessions/notes/notes-file.ts";

const [path = "", name = "", count = ""] = process.argv.slice(2);

for (let n = 0; n < Number(count); n++) {
  const subject = { dialect: "claude-code", session: `${name}${n}` };
  await changeNotes(nodeHost, subject, null, { note: `${name} ${n}` }, { path });
}
