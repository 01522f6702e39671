/** Matches JSON escapes of characters that Postgres rejects: NUL and unpaired surrogates. */
const UNSTORABLE_ESCAPE = /\\u(0000|d[89a-f][\da-f]{2})/i

/**
 * Replaces characters that Postgres rejects with U+FFFD, the replacement character, in all texts of
 * a JSON value.
 */
export function toStorable<Value>(value: Value): Value {
  const isStorable = !UNSTORABLE_ESCAPE.test(JSON.stringify(value))
  return isStorable ? value : (replaceUnstorable(value) as Value)
}

function replaceUnstorable(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\ufffd')
  if (Array.isArray(value)) return value.map(replaceUnstorable)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      replaceUnstorable(key),
      replaceUnstorable(member),
    ]),
  )
}
