/** Picture: a small PNG for prompts with an image. */

/** Two by two pixels. */
export const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAE0lEQVR4nGPQqzUCIobKUA8gAgAaIwPnuZUv8wAAAABJRU5ErkJggg==",
  "base64",
);
