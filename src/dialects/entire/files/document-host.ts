/**
 * Document host: Entire stores the transcript of Gemini CLI as it is: one JSON document. Such a
 * session is read as a log with one line for each message, and nothing is written to it.
 */

import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../../../core/base/host.ts";
import { type Convert, convertedHost } from "../../files/converted-host.ts";
import { convertedDocument } from "../../files/json-document.ts";
import { LOG_NAME } from "../session-id.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Gemini CLI indents its document; the first line of a log is longer. */
const DOCUMENT = /^\s*\{\s*\n/;

const convert: Convert = (root, path) =>
  path.at(-1) === LOG_NAME ? convertedDocument(root, path, "messages") : null;

export function documentHost(host: Host, root: string): Host {
  const reading = convertedHost(host, root, convert);
  return {
    ...host,
    files: {
      makeDirectory: (path, options) => host.files.makeDirectory(path, options),
      openDirectory: (path, options) => {
        const { files } = DOCUMENT.test(beginningOf(join(path, LOG_NAME))) ? reading : host;
        return files.openDirectory(path, options);
      },
    },
  };
}

function beginningOf(path: string): string {
  try {
    const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(64);
      return bytes.toString("latin1", 0, readSync(file, bytes, 0, bytes.length, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return ""; // Missing, or not a file: opening the log reports it.
  }
}
