import type { VersionSignature } from './plugin-signature.ts'

/** Describes for people who has signed a version of a plugin. */
export function describeSignature(
  { state, publisher, key, trust }: VersionSignature,
  detail: 'short' | 'with key' = 'short',
): string {
  if (state === 'unsigned') return state
  // An unknown publisher may have chosen any name.
  const name = trust === 'unknown' ? `unknown publisher ${JSON.stringify(publisher)}` : publisher
  const by = trust === 'distrusted' ? `${name} (distrusted)` : name
  return detail === 'short' ? `signed by ${by}` : `signed by ${by}, key ${key}`
}
