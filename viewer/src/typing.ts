/** Typing: whether a key that is pressed is somebody writing, and no command. */

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select");
}
