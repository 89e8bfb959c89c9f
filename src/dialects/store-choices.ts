/** Store choices: options of a store that only its dialect has. */

export type StoreChoices = Readonly<Record<string, unknown>>;
