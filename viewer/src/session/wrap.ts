/** Wrap: whether long lines of code and output wrap or scroll. Kept in this browser. */

import { effect } from "@preact/signals";
import { keptSwitch } from "../kept-switch.ts";

export const { isOn: isWrapped, toggle: toggleWrap } = keptSwitch("verbatim.wrap");

effect(() => {
  document.documentElement.dataset.wrap = isWrapped.value ? "on" : "off";
});
