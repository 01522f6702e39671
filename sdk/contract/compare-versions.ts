/**
 * Compares two versions by precedence (semver.org, section 11). Returns a negative number if
 * `a` is lower than `b`.
 */
export function compareVersions(a: string, b: string): number {
  const versionA = parseVersion(a)
  const versionB = parseVersion(b)
  return (
    compareIdentifiers(versionA.release, versionB.release) ||
    comparePrereleases(versionA.prerelease, versionB.prerelease)
  )
}

interface Version {
  release: string[]
  /** Empty for a release. */
  prerelease: string[]
}

function parseVersion(version: string): Version {
  const dash = version.indexOf('-')
  if (dash < 0) return { release: version.split('.'), prerelease: [] }
  return {
    release: version.slice(0, dash).split('.'),
    prerelease: version.slice(dash + 1).split('.'),
  }
}

/** A release has a higher precedence than its prereleases. */
function comparePrereleases(a: string[], b: string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length
  return compareIdentifiers(a, b)
}

function compareIdentifiers(a: string[], b: string[]): number {
  for (const [i, identifier] of a.entries()) {
    const order = i < b.length ? compareIdentifier(identifier, b[i]!) : 1
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** Numbers are compared numerically, words by their characters. A number is lower than a word. */
function compareIdentifier(a: string, b: string): number {
  const isNumberA = /^\d+$/.test(a)
  const isNumberB = /^\d+$/.test(b)
  // Numbers have no leading zeros, so a longer number is greater.
  if (isNumberA && isNumberB) return a.length - b.length || compareText(a, b)
  if (isNumberA || isNumberB) return isNumberA ? -1 : 1
  return compareText(a, b)
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
