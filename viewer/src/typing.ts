/** Typing: whether a pressed key is text input, not a command. */

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select");
}
