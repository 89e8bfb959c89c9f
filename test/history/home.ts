/** Home: a user with a session of Claude Code, and a signed one in a project. */

import { join } from "node:path";
import { answerRow, promptRow, writeClaude } from "../support/agent-home.ts";
import { answered, SigningUser, said } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

export interface HistoryHome {
  readonly home: string;
  /** Has the signed session `thread-2`. */
  readonly project: string;
  /** For a process of this user. */
  readonly env: NodeJS.ProcessEnv;
}

/** The environment is this user's until the test ends. */
export async function historyHome(): Promise<HistoryHome> {
  const home = tempDirectory();
  const project = join(home, "project");
  const user = new SigningUser();
  const at = Date.parse("2026-11-02T10:00:00Z");
  writeClaude(home, "-home-me-app/s1.jsonl", [
    promptRow("Why does the webhook fail?", { at }),
    answerRow("a", { at: at + 1000 }),
  ]);
  const lines = ["Where does Ada live?", "Write to ada@lovelace.dev"].map(said);
  const entries = [...lines, answered("17 Mill Lane")];
  await user.write({ dialect: "rye" }, entries, { root: project, id: "thread-2", sign: "append" });
  process.env.HOME = home;
  const { XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME, PATH } = process.env;
  return {
    home,
    project,
    env: { PATH, HOME: home, XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME },
  };
}
