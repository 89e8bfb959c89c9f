/** `verbatim head witness`, `timestamp`, `publish`: show the head of a session to third parties. */

import {
  type CliCommand,
  type CommandOption,
  textOption,
  UsageError,
} from "../../command/command.ts";
import { SESSION_ARGUMENT, WHERE_OPTIONS } from "../reading/reading.ts";

const AS_OPTION: CommandOption = {
  flags: "--as <name>",
  summary: "your name in the log's origin, such as ada.example; default: as last time",
};
const BRANCH = "verbatim-heads";

export const witnessHead: CliCommand = {
  name: "witness",
  summary: "Send the head of a session to a witness, and keep its cosignature",
  args: [SESSION_ARGUMENT],
  options: [
    { flags: "--to <witness>", summary: "its URL, or the name of one in your list" },
    {
      flags: "--witness-key <key>",
      summary: "with a URL: the key that its operator gave you, name+id+key; added to your list",
    },
    AS_OPTION,
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim head witness hello_world-1739012630 --to https://witness.example/witness \\\\\n" +
      "    --witness-key witness.example/w1+2c1f…+BH8… --as ada.example",
    "verbatim head witness last --to witness.example/w1",
  ],

  async run(run) {
    const to = textOption("--to", run.options.to);
    if (to === undefined) throw new UsageError("give --to and the URL or the name of a witness");
    const { sendToWitness } = await import("./witnessing.ts");
    return sendToWitness(run, to);
  },
};

export const timestampHead: CliCommand = {
  name: "timestamp",
  summary: "Get a time stamp (RFC 3161) of a session's head, by openssl, and keep it",
  args: [SESSION_ARGUMENT],
  options: [{ flags: "--tsa <url>", summary: "the time stamping authority" }, ...WHERE_OPTIONS],
  examples: ["verbatim head timestamp last --tsa https://tsa.example/tsr"],

  async run(run) {
    const url = textOption("--tsa", run.options.tsa);
    if (url === undefined || !/^https?:\/\//.test(url) || !URL.canParse(url)) {
      throw new UsageError("give --tsa and the URL of an authority: https://…");
    }
    const { stampHead } = await import("./witnessing.ts");
    return stampHead(run, url);
  },
};

export const publishHead: CliCommand = {
  name: "publish",
  summary: "Commit the signed head of a session to a branch of a git repository",
  args: [SESSION_ARGUMENT],
  options: [
    { flags: "--git <dir>", summary: "the repository; its work tree is not touched" },
    { flags: "--branch <name>", summary: "the branch, created if missing", default: BRANCH },
    AS_OPTION,
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim head publish last --git ~/heads --as ada.example",
    "git -C ~/heads push origin verbatim-heads",
  ],

  async run(run) {
    const directory = textOption("--git", run.options.git);
    if (directory === undefined) throw new UsageError("give --git and a repository");
    const { publishToGit } = await import("./witnessing.ts");
    return publishToGit(run, directory, textOption("--branch", run.options.branch) ?? BRANCH);
  },
};
