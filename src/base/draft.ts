/** An object under construction: its fields can be set. */
export type Draft<T> = { -readonly [Field in keyof T]: T[Field] };
