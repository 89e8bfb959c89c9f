/** TLS: the key and the certificate of the server. */

import { createSecureContext } from "node:tls";
import { VerbatimError } from "../../core/base/errors.ts";
import { readUserFile, type UserFileRules } from "../../core/base/node-user-files.ts";

const BYTES_MAX = 1024 * 1024;

export interface TlsFiles {
  readonly key: string;
  readonly cert: string;
}

/** Reads both; refuses a key that others can read, and files that are not a matching pair. */
export function readTlsFiles(keyPath: string, certPath: string): TlsFiles {
  const key = readPem("tlsKey", keyPath, "secret");
  const cert = readPem("tlsCert", certPath, "anyone");
  try {
    createSecureContext({ key, cert, minVersion: "TLSv1.2" });
  } catch (cause) {
    const reason = "the files are not a matching key and certificate in PEM";
    throw refused("tlsKey", `${keyPath} and ${certPath}`, reason, cause);
  }
  return { key, cert };
}

function readPem(setting: string, path: string, access: UserFileRules["access"]): string {
  // Renewal changes a symbolic link; the check is about the file behind it.
  const file = readUserFile(path, { bytesMax: BYTES_MAX, access, followsLinks: true });
  if (file === null) throw refused(setting, path, "there is no such file");
  if (file.fault !== null) throw refused(setting, path, file.fault);
  return file.text;
}

function refused(setting: string, path: string, reason: string, cause?: unknown): VerbatimError {
  return new VerbatimError(
    "BAD_SETTING",
    `${path} is refused for TLS: ${reason}`,
    { setting, from: "flag", reason },
    { cause },
  );
}
