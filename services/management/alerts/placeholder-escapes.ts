/** Converts a value so that it stays one value where a placeholder is replaced by it. */
export type Escape = (value: string) => string

/** For plain text. */
export const escapeNothing: Escape = value => value

/** For the inside of a JSON string. */
export const escapeJson: Escape = value => JSON.stringify(value).slice(1, -1)

/** For the value of an HTTP header, which has no line breaks and no characters outside of ISO 8859-1 (RFC 9110). */
export const escapeHeader: Escape = value => value.replace(/[^\x20-\x7e\xa0-\xff]/g, '?')
