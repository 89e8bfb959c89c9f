/** Remote URL: the server that sessions are sent to, the folder there, and who sends them. */

import { hostname, userInfo } from "node:os";
import { badOption, checkOptions, type OptionKinds } from "../../core/base/choice.ts";
import type { Sender } from "../../sessions/list/whose.ts";
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
  /**
   * Whose sessions the server says they are, `user@machine`. Default: `VERBATIM_SENDER`, else the
   * names that the system gives to this user and this machine when it first sends there.
   */
  readonly sender?: string;
}

export interface Remote {
  /** Without the folder, and without a slash at the end. */
  readonly url: string;
  readonly folder: string;
  readonly token: string | null;
  /** As the user says; null: as the system does. */
  readonly sender: Sender | null;
}

const OPTIONS: OptionKinds<RemoteOptions> = { url: "text", token: "text", sender: "text" };

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
  const folder = named === "" ? thisSender().machine : named;
  if (!isFolder(folder)) {
    throw badOption(
      option,
      `must end in a folder of letters, digits, -, _ and single dots, at most ${FOLDER_CHARS_MAX}`,
    );
  }
  const sender = senderIn(options.sender ?? process.env.VERBATIM_SENDER ?? "");
  if (sender === undefined) {
    const name = options.sender === undefined ? "VERBATIM_SENDER" : `${option}.sender`;
    throw badOption(name, "must be a user and a machine such as ada@laptop");
  }
  return { url: url.origin, folder, token: token || null, sender };
}

function parsed(text: unknown): URL | null {
  return typeof text === "string" && URL.canParse(text) ? new URL(text) : null;
}

/** Null: not set. Undefined: wrong. */
function senderIn(text: string): Sender | null | undefined {
  if (text === "") return null;
  const [user = "", machine = "", ...more] = text.split("@");
  return isFolder(user) && isFolder(machine) && more.length === 0 ? { machine, user } : undefined;
}

/** As the system calls this machine and its user. */
export function thisSender(): Sender {
  return { machine: segmentOf(hostname(), "machine"), user: segmentOf(userName(), "user") };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env.USER ?? ""; // In a container a user may have a number and no name.
  }
}

/** A name as one segment of a path. */
function segmentOf(name: string, otherwise: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^[_-]+/, "");
  return plain.slice(0, FOLDER_CHARS_MAX) || otherwise;
}
