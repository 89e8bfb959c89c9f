/** Native: a line's JSON object, in the dialect's own format. */

export type Native = Readonly<Record<string, unknown>>;

/** Options of a store that only its dialect has. */
export type StoreChoices = Readonly<Record<string, unknown>>;
