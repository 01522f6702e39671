/**
 * How pipelines name their elements: `count` is the element of the active version of its plugin,
 * `count@1.2.0` that of a version, and `count@1.2` or `count@1` that of the newest installed
 * version that begins so.
 */
export interface ElementReference {
  /** Name of the element. */
  name: string
  /** What follows the `@`; undefined if the element follows the active version. */
  pin: string | undefined
}

export function parseElementReference(reference: string): ElementReference {
  const at = reference.indexOf('@')
  return at < 0
    ? { name: reference, pin: undefined }
    : { name: reference.slice(0, at), pin: reference.slice(at + 1) }
}

const PREFIX = /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*))?$/

/**
 * Whether a pin allows a version. The beginning of a version allows no prereleases, which
 * are pinned as a whole.
 */
export function isPinnedVersion(version: string, pin: string): boolean {
  if (version === pin) return true
  return PREFIX.test(pin) && !version.includes('-') && version.startsWith(`${pin}.`)
}
