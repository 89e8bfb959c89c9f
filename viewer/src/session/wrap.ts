/**
 * Wrap: whether long lines of code and output wrap or scroll, and whether changes are in two columns.
 * Kept in this browser.
 */

import { effect } from "@preact/signals";
import { keptSwitch } from "../kept-switch.ts";

export const { isOn: isWrapped, toggle: toggleWrap } = keptSwitch("verbatim.wrap");
export const { isOn: isInColumns, toggle: toggleColumns } = keptSwitch("verbatim.columns", false);

effect(() => {
  document.documentElement.dataset.wrap = isWrapped.value ? "on" : "off";
  document.documentElement.dataset.columns = isInColumns.value ? "on" : "off";
});
