/** Signing user: the user's own key, trust and pins, for the streams that their server signs. */

import type { Host } from "../base/host.ts";
import { userPlaces } from "../base/node-places.ts";
import { Heads } from "../signing/heads.ts";
import { loadOwnSigners, loadSigner } from "../signing/keys.ts";
import { Trust } from "../signing/trust.ts";
import { transcriptKeys } from "../signing/trusted-keys.ts";
import type { StreamSigner } from "./stream-signing.ts";

/** Makes a key when the user has none. Refuses with what is wrong with keys, trust or pins. */
export async function loadStreamSigner(
  host: Host,
  onWarning: (warning: string) => void,
): Promise<StreamSigner> {
  const places = userPlaces();
  const signer = await loadSigner(host, places);
  const { signers: own } = await loadOwnSigners(places, signer);
  const trust = await Trust.load(places);
  const heads = new Heads({ host, stateDirectory: places.stateDirectory, onWarning });
  const book = await heads.read();
  if (book.problem !== null) onWarning(book.problem);
  const keysFor = (path: string) => transcriptKeys(trust, path);
  return { signer, own, keysFor, heads, book, onWarning };
}
