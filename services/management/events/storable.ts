/** What JSON may hold and Postgres does not keep: NUL, and halves of surrogate pairs. */
const UNSTORABLE = /\\u(0000|d[89a-f][\da-f]{2})/i

/** The same value with what Postgres does not keep replaced by U+FFFD. */
export function storable<Value>(value: Value): Value {
  const text = JSON.stringify(value)
  return UNSTORABLE.test(text) ? (mend(value) as Value) : value
}

function mend(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\ufffd')
  if (Array.isArray(value)) return value.map(mend)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [mend(key), mend(part)]))
}
