/** Converts a value so that it stays one value where a placeholder is replaced by it. */
export type Escape = (value: string) => string

/** For plain text. */
export const escapeNothing: Escape = value => value

/** For the inside of a JSON string. */
export const escapeJson: Escape = value => JSON.stringify(value).slice(1, -1)

/**
 * For the value of an HTTP header, which has no line breaks and no characters outside of
 * ISO 8859-1 (RFC 9110).
 */
export const escapeHeader: Escape = value => value.replace(/[^\x20-\x7e\xa0-\xff]/g, '?')

/** Markup that a receiver interprets, as in the field `action_markup`. */
export type Markup = 'html' | 'markdown' | 'slack'

const HTML_ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** For text in a markup, so that a name cannot format, link or mention. */
const MARKUP_ESCAPES: Record<Markup, Escape> = {
  html: value => value.replace(/[&<>]/g, character => HTML_ENTITIES[character]!),
  markdown: value => value.replace(/[\\`*_~|[\]()<>#]/g, '\\$&'),
  // Slack has no escape for its other characters, which only format.
  slack: value => value.replace(/[&<>]/g, character => HTML_ENTITIES[character]!),
}

/** For a payload: the escape of its markup, inside of JSON if it is JSON. */
export function createPayloadEscape(isJson: boolean, markup: Markup | undefined): Escape {
  const escapeMarkup = markup ? MARKUP_ESCAPES[markup] : escapeNothing
  return isJson ? value => escapeJson(escapeMarkup(value)) : escapeMarkup
}
