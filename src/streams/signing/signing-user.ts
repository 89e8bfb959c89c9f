/** Signing user: the user's key, trust and pins, for the streams that their server signs. */

import type { Host } from "../../core/base/host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import { Heads, type RootNames } from "../../trust/heads/heads.ts";
import { rootNames } from "../../trust/heads/session-head.ts";
import { loadOwnSigners, loadSigner } from "../../trust/keys/keys.ts";
import { STREAMS } from "../../trust/proof/envelopes.ts";
import { Trust, transcriptKeys } from "../../trust/trusted-keys/trust.ts";
import type { StreamSigner } from "./stream-signing.ts";

/** Creates a key if the user has none. Throws when keys, trust or pins are invalid. */
export async function loadStreamSigner(
  host: Host,
  onWarning: (warning: string) => void,
): Promise<StreamSigner> {
  const places = userPaths();
  const signer = await loadSigner(host, places);
  const { signers: own } = await loadOwnSigners(places, signer);
  const trust = await Trust.load(places);
  const heads = new Heads({ host, stateDirectory: places.stateDirectory, onWarning });
  const book = await heads.read();
  if (book.problem !== null) onWarning(book.problem);
  const keysFor = (path: string) => transcriptKeys(trust, path);
  return { signer, own, keysFor, heads, book, onWarning };
}

/** The names of a data directory in pins; it may be gone. */
export function namesOfData(host: Host, path: string): Promise<RootNames> {
  return rootNames(host, { dialect: STREAMS, root: path });
}
