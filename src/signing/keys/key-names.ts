/** Key names: which key a person means, and how its id is shown to be compared by eye. */

import { VerbatimError } from "../../base/errors.ts";

/** Fewer digits are a slip, or a guess. */
export const KEY_PREFIX_MIN = 8;

interface Named {
  readonly kid: string;
  readonly fp: string;
}

/** The one key with this id, beginning of an id, or short name (fp); KEY_NOT_FOUND otherwise. */
export function namedKey<K extends Named>(name: string, keys: readonly K[]): K {
  const asked = name.replaceAll(" ", "").toLowerCase(); // As it was shown, in groups.
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

/** An id in groups of four. */
export function inGroups(kid: string): string {
  return kid.match(/.{1,4}/g)?.join(" ") ?? "";
}
