/** Dropped file: a copy or a proof that was dropped on another page, on its way to the page that shows it. */

import { signal } from "@preact/signals";

export const droppedFile = signal<File | null>(null);
