/** Native: a line's JSON object, in the dialect's own words. */

export type Native = Readonly<Record<string, unknown>>;

/** Options of a store that only its dialect has; each dialect knows its own. */
export type StoreChoices = Readonly<Record<string, unknown>>;
