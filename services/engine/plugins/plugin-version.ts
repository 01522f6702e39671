/** The precedence of two versions, by semver.org 2.0: negative where `a` comes before `b`. */
export function compareVersions(a: string, b: string): number {
  const [releaseA, preA] = partsOf(a)
  const [releaseB, preB] = partsOf(b)
  return compareParts(releaseA, releaseB) || comparePre(preA, preB)
}

function partsOf(version: string): [release: string[], pre: string[]] {
  const dash = version.indexOf('-')
  const release = dash < 0 ? version : version.slice(0, dash)
  return [release.split('.'), dash < 0 ? [] : version.slice(dash + 1).split('.')]
}

/** A release comes after all that lead to it. */
function comparePre(a: string[], b: string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length
  return compareParts(a, b)
}

function compareParts(a: string[], b: string[]): number {
  for (const [i, part] of a.entries()) {
    const order = i < b.length ? comparePart(part, b[i]!) : 1
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** Numbers by their value and before words; words by their characters. */
function comparePart(a: string, b: string): number {
  const [isA, isB] = [a, b].map(part => /^\d+$/.test(part))
  if (isA && isB) return a.length - b.length || order(a, b)
  if (isA || isB) return isA ? -1 : 1
  return order(a, b)
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
