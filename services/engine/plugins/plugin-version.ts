/** Compares two versions by the precedence of Semantic Versioning 2.0: negative if `a` is lower than `b`. */
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
  return { release: version.slice(0, dash).split('.'), prerelease: version.slice(dash + 1).split('.') }
}

/** A release is higher than its prereleases. */
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

/** Numbers are compared numerically and are lower than words; words are compared by their characters. */
function compareIdentifier(a: string, b: string): number {
  const isNumberA = /^\d+$/.test(a)
  const isNumberB = /^\d+$/.test(b)
  if (isNumberA && isNumberB) return a.length - b.length || compareText(a, b)
  if (isNumberA || isNumberB) return isNumberA ? -1 : 1
  return compareText(a, b)
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
