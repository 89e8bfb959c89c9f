/** Lightbox: a picture of the transcript over the page, and from there the next and the one before. */

const PICTURES = ".entries .picture img";

/** Opens the picture that was clicked, or chosen by a key. */
export function openPicture(event: MouseEvent): void {
  const summary = event.target instanceof Element && event.target.closest(".picture > summary");
  const image = summary ? summary.querySelector("img") : null;
  if (image === null) return;
  event.preventDefault(); // Or it unfolds in its place, as in a page without scripts.
  const images = [...document.querySelectorAll<HTMLImageElement>(PICTURES)];
  show(images, Math.max(0, images.indexOf(image)));
}

function show(images: readonly HTMLImageElement[], first: number): void {
  let at = first;
  const dialog = document.createElement("dialog");
  dialog.className = "lightbox";
  dialog.setAttribute("aria-label", "Picture");
  const picture = document.createElement("img");
  const caption = document.createElement("p");
  caption.setAttribute("role", "status");
  const turn = (by: number) => {
    at = (at + by + images.length) % images.length;
    const { src = "", alt = "" } = images[at] ?? {};
    Object.assign(picture, { src, alt });
    caption.textContent = images.length === 1 ? alt : `${alt}, ${at + 1} of ${images.length}`;
  };
  const bar = document.createElement("div");
  bar.className = "lightbox-bar";
  bar.append(caption);
  if (images.length > 1)
    bar.append(
      button("Previous", () => turn(-1)),
      button("Next", () => turn(1)),
    );
  bar.append(button("Close", () => dialog.close()));
  dialog.append(picture, bar);
  dialog.addEventListener("keydown", ({ key }) => {
    if (key === "ArrowLeft") turn(-1);
    if (key === "ArrowRight") turn(1);
  });
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close(); // Beside the picture.
  });
  dialog.addEventListener("close", () => dialog.remove());
  turn(0);
  document.body.append(dialog);
  dialog.showModal();
}

function button(words: string, onClick: () => void): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = words;
  made.addEventListener("click", onClick);
  return made;
}
