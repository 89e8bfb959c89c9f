/** Use virtual: which rows of a long list are on the screen, and their positions. */

import {
  elementScroll,
  measureElement,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

export interface VirtualOptions {
  readonly count: number;
  readonly scroller: RefObject<HTMLElement | null>;
  readonly pxOf: (index: number) => number;
  /** Where to begin. */
  readonly offset?: number;
  readonly keyOf: (index: number) => string;
}

export function useVirtual({ count, scroller, pxOf, offset = 0, keyOf }: VirtualOptions) {
  const [, again] = useReducer((times: number) => times + 1, 0);
  const options: VirtualizerOptions<HTMLElement, HTMLElement> = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: pxOf,
    initialOffset: offset,
    getItemKey: keyOf,
    overscan: 8,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    measureElement,
    onChange: () => again(undefined),
  };
  const [virtualizer] = useState(() => new Virtualizer(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}
