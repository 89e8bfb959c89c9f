/** Watched page: records what a page of ours must never do. */

import type { Page } from "playwright-core";

/**
 * Records dialogs, windows, errors, and requests for what is not the page's own. A violated
 * Content-Security-Policy is an error in the console, too. The returned function ends the watching.
 */
export function watchPage(
  page: Page,
  isOwn: (url: string) => boolean,
  deeds: string[],
): () => void {
  page.on("dialog", (dialog) => {
    deeds.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (message.type() === "error") deeds.push(`console ${message.text()}`);
  });
  page.on("pageerror", (error) => deeds.push(`script error ${error.message}`));
  page.on("popup", () => deeds.push("window"));
  // Of its workers and windows as well.
  page.context().on("request", (request) => {
    if (!isOwn(request.url())) deeds.push(`request ${request.url()}`);
  });
  return () => {
    page.removeAllListeners();
    page.context().removeAllListeners("request");
  };
}
