/** Key names: finds the key a user names, and formats ids to be compared by eye. */

import { VerbatimError } from "../../base/errors.ts";

/** A shorter prefix is a typo or a guess. */
export const KEY_PREFIX_MIN = 8;

interface Named {
  readonly kid: string;
  readonly fp: string;
}

/** The one key with this id, id prefix or short name (fp); else KEY_NOT_FOUND. */
export function namedKey<K extends Named>(name: string, keys: readonly K[]): K {
  const asked = name.replaceAll(" ", "").toLowerCase(); // Ids are shown in groups.
  const isName = /^[0-9a-f]+$/.test(asked) && asked.length >= KEY_PREFIX_MIN;
  const found = isName ? keys.filter(({ kid, fp }) => kid.startsWith(asked) || fp === asked) : [];
  const [key, another] = found;
  if (key && !another) return key;
  const why = another
    ? `${found.length} keys have this name: ${found.map(({ kid }) => kid).join(", ")}`
    : `give the id of a key, or its first ${KEY_PREFIX_MIN} hex digits or more`;
  throw new VerbatimError(
    "KEY_NOT_FOUND",
    `no single key is named ${JSON.stringify(name)}; ${why}`,
    {
      key: name,
    },
  );
}

export function inGroups(kid: string): string {
  return kid.match(/.{1,4}/g)?.join(" ") ?? "";
}
