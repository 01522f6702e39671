/**
 * Names, messages and reasons can come from plugins, cameras and other devices. On a terminal,
 * control characters in them would move the cursor, delete lines or change the title of the window.
 */

/** Control characters, line separators, and characters that reverse the direction of a text. */
const CONTROL_CHARACTERS = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu

const SHORT_ESCAPES: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * Replaces control characters, such as `\u001b`, by their escapes in JSON. A text in JSON therefore
 * keeps its meaning.
 */
export const escapeControlCharacters = (text: string): string =>
  text.replace(
    CONTROL_CHARACTERS,
    character =>
      SHORT_ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
