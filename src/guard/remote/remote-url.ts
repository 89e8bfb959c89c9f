/** Remote URL: the server that sessions are sent to, and the folder there. */

import { hostname } from "node:os";
import { badOption, checkOptions, type OptionKinds } from "../../core/base/choice.ts";
import { FOLDER_CHARS_MAX, isFolder } from "./session-paths.ts";

/** Where sessions are sent. */
export interface RemoteOptions {
  /**
   * The server's address, and optionally the folder for these sessions:
   * `https://verbatim.example.com/laptop`. Default of the folder: the name of this machine.
   */
  readonly url: string;
  /** A token of the server that may read and append there. Default: `VERBATIM_TOKEN`. */
  readonly token?: string;
}

export interface Remote {
  /** Without the folder, and without a slash at the end. */
  readonly url: string;
  readonly folder: string;
  readonly token: string | null;
}

const OPTIONS: OptionKinds<RemoteOptions> = { url: "text", token: "text" };

/** Throws BAD_SETTING. `option` is the name of the option for the error. */
export function remoteOf(given: string | RemoteOptions, option: string): Remote {
  const options = typeof given === "string" ? { url: given } : given;
  checkOptions(option, options, OPTIONS);
  const { url: text, token = process.env.VERBATIM_TOKEN } = options;
  const url = parsed(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw badOption(option, "must be an address such as https://verbatim.example.com/laptop");
  }
  if (url.username !== "" || url.password !== "") {
    throw badOption(option, "must not have a user or password; set VERBATIM_TOKEN instead");
  }
  const named = url.pathname.replace(/^\/|\/$/g, "");
  const folder = named === "" ? machineFolder() : named;
  if (!isFolder(folder)) {
    throw badOption(
      option,
      `must end in a folder of letters, digits, -, _ and single dots, at most ${FOLDER_CHARS_MAX}`,
    );
  }
  return { url: url.origin, folder, token: token || null };
}

function parsed(text: unknown): URL | null {
  return typeof text === "string" && URL.canParse(text) ? new URL(text) : null;
}

function machineFolder(): string {
  const name = hostname()
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^[_-]+/, "");
  return name.slice(0, FOLDER_CHARS_MAX) || "machine";
}
