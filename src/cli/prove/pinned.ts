/**
 * Pinned: finds the pins for an id or the beginning of one. The session itself may be gone: that is
 * when its pin is needed.
 *
 * Pins of the stores found from here come first; if there are none, pins of any place. `--root` and
 * `--dialect` search only there.
 */

import { resolve } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { findSession } from "../../sessions/list/find-session.ts";
import { findStores, type StoreLookup } from "../../sessions/list/find-stores.ts";
import { rootNames } from "../../trust/heads/session-head.ts";
import type { Pin } from "../../trust/proof/pin.ts";
import type { SessionPin } from "../../trust/proof/pins.ts";

const LISTED_MAX = 10;

/** Whether a pin is within `--root` and `--dialect`; without these options, every pin is. */
export async function isWithin(
  host: Host,
  { cwd, root, dialect }: StoreLookup,
): Promise<(pin: Pin) => boolean> {
  const paths = root === undefined ? null : await pathsOf(host, resolve(cwd, root));
  return ({ place }) => {
    const colon = place.indexOf(":");
    const isThere = paths === null || paths.includes(place.slice(colon + 1));
    return isThere && (dialect === undefined || place.slice(0, colon) === dialect);
  };
}

/** The pins within `--root` and `--dialect`. */
export async function pinsWithin(
  host: Host,
  pinned: readonly SessionPin[],
  where: StoreLookup,
): Promise<SessionPin[]> {
  const isAsked = await isWithin(host, where);
  return pinned.filter(({ pin }) => isAsked(pin));
}

/** The pins that match `name`; throws PIN_NOT_FOUND if there is none. */
export async function findPins(
  host: Host,
  pinned: readonly SessionPin[],
  name: string,
  where: StoreLookup,
): Promise<SessionPin[]> {
  const within = await pinsWithin(host, pinned, where);
  const places = new Set(await placesFromHere(host, where));
  const near = within.filter(({ pin }) => places.has(pin.place));
  for (const pins of [near, within]) {
    const namedPins = byName(pins, name);
    if (namedPins.length > 0) return namedPins;
  }
  const atPath = await pinOfPath(host, pinned, name, where);
  if (atPath) return [atPath];
  throw new VerbatimError(
    "PIN_NOT_FOUND",
    `no head is pinned for ${name}; \`verbatim keys head show\` lists what is pinned`,
    { session: name },
  );
}

/**
 * The pins of the one session that matches `name`, under each name of its store; refuses an
 * ambiguous name.
 */
export async function findSessionPins(
  host: Host,
  pinned: readonly SessionPin[],
  name: string,
  where: StoreLookup,
): Promise<readonly SessionPin[]> {
  const all = await findPins(host, pinned, name, where);
  if (all.length === 1 || (await areOfOneSession(host, all, where))) return all;
  const listed = all.slice(0, LISTED_MAX).map(({ pin }) => `  ${pin.id}  (${pin.place})`);
  if (all.length > LISTED_MAX) listed.push(`  and ${all.length - LISTED_MAX} more`);
  throw new VerbatimError(
    "PIN_NOT_FOUND",
    [`${name} may be one of ${all.length} pins; say more of its id, or --root:`, ...listed].join(
      "\n",
    ),
    { session: name },
  );
}

/** Whether all are of one session in one store, whose root has several names (trust/heads). */
async function areOfOneSession(
  host: Host,
  all: readonly SessionPin[],
  { cwd, root = cwd }: StoreLookup,
): Promise<boolean> {
  const paths = await pathsOf(host, resolve(cwd, root));
  const whose = all.map(({ pin: { place, id } }) => {
    const colon = place.indexOf(":");
    return paths.includes(place.slice(colon + 1)) ? `${place.slice(0, colon)} ${id}` : place;
  });
  return new Set(whose).size === 1;
}

/** Matches a whole id, else the whole last part of one, else beginnings of either. */
function byName(pinned: readonly SessionPin[], name: string): SessionPin[] {
  const lastPart = (id: string) => id.slice(id.lastIndexOf("/") + 1);
  const rules: readonly ((id: string) => boolean)[] = [
    (id) => id === name,
    (id) => lastPart(id) === name,
    (id) => id.startsWith(name) || lastPart(id).startsWith(name),
  ];
  for (const rule of rules) {
    const matches = pinned.filter(({ pin }) => rule(pin.id));
    if (matches.length > 0) return matches;
  }
  return [];
}

async function pinOfPath(
  host: Host,
  pinned: readonly SessionPin[],
  name: string,
  where: StoreLookup,
): Promise<SessionPin | null> {
  try {
    const session = await findSession(host, name, where, "signed");
    const { place, others } = await rootNames(host, session);
    const isIts = ({ pin }: SessionPin) => {
      return pin.id === session.id && [place, ...others].includes(pin.place);
    };
    return pinned.find(isIts) ?? null;
  } catch (cause) {
    if (cause instanceof VerbatimError && cause.code === "SESSION_NOT_FOUND") return null;
    throw cause;
  }
}

async function placesFromHere(host: Host, where: StoreLookup): Promise<string[]> {
  if (where.root !== undefined) return []; // Then all matches are in one place anyway.
  // A store selected by its dialect need not exist.
  const names = await Promise.all((await findStores(where)).map((store) => rootNames(host, store)));
  return names.flatMap(({ place, others }) => [place, ...others]);
}

/** Every name of a directory; for a missing one, the names it would have. */
async function pathsOf(host: Host, path: string): Promise<string[]> {
  const { place, others } = await rootNames(host, { dialect: "", root: path });
  return [place, ...others].map((each) => each.slice(1));
}
