/** A thing that is still being put together: its fields can be set. */
export type Draft<T> = { -readonly [Field in keyof T]: T[Field] };
