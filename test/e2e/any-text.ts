/** Any text that JavaScript can hold, including lone surrogates and controls. */

import fc from "fast-check";

const unit = fc.oneof(
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 0xffff }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 0x9f }) },
  { weight: 1, arbitrary: fc.integer({ min: 0xd7ff, max: 0xe000 }) },
);

export const anyText = fc.string({ unit: unit.map((code) => String.fromCharCode(code)) });
