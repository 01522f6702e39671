import { compareVersions } from '@eyrie/contract/compare-versions'
import { parseAs } from '@eyrie/contract/parse'
import { type RegistryEntry, readRegistryEntry } from '@eyrie/plugin-signature/registry-entry'
import { z } from 'zod'

/**
 * The index of a registry, the file `index.json`: which versions of plugins it has. The file itself
 * is not signed, but each of its entries is.
 */

export const INDEX_FILE = 'index.json'
/** Maximum size of the file, sufficient for tens of thousands of entries. */
export const MAX_INDEX_BYTES = 32 << 20
export const EMPTY_INDEX: RegistryIndex = { entries: [], rejected: [] }

const indexFile = z.looseObject({ format: z.literal(1), entries: z.array(z.unknown()) })
const entryLabel = z.looseObject({ name: z.string(), version: z.string() })

/**
 * An entry that is malformed or forged. Its name and version are what it claims, if it claims any.
 */
export interface RejectedEntry {
  name: string
  version: string
  reason: string
}

export interface RegistryIndex {
  /** Entries whose signatures match, in the order of `formatIndex`. */
  entries: readonly RegistryEntry[]
  rejected: readonly RejectedEntry[]
}

/** Path of a package within its registry. */
export const toPackagePath = ({ name, version }: Pick<RegistryEntry, 'name' | 'version'>): string =>
  `packages/${name}-${version}.tgz`

/** Name and version, as people write them. */
export const toLabel = ({ name, version }: Pick<RegistryEntry, 'name' | 'version'>): string =>
  `${name} ${version}`

/**
 * Parses an index, and verifies the signature of each entry. Throws an `Error` if it is no index.
 */
export function parseIndex(text: string): RegistryIndex {
  const { entries } = parseAs(indexFile, JSON.parse(text), `${INDEX_FILE}: `)
  const accepted: RegistryEntry[] = []
  const rejected: RejectedEntry[] = []
  for (const [position, value] of entries.entries()) {
    try {
      accepted.push(readRegistryEntry(value))
    } catch (error) {
      const label = entryLabel.safeParse(value).data ?? { name: `entry ${position}`, version: '' }
      rejected.push({ ...label, reason: (error as Error).message })
    }
  }
  return { entries: sortEntries(accepted), rejected }
}

/** Returns the text of an index. The same entries in any order result in the same text. */
export const formatIndex = (entries: readonly RegistryEntry[]): string =>
  `${JSON.stringify({ format: 1, entries: sortEntries(entries) }, null, 2)}\n`

/** Sorts by name, and the versions of each plugin from the newest to the oldest. */
const sortEntries = (entries: readonly RegistryEntry[]) => entries.toSorted(compareEntries)

function compareEntries(a: RegistryEntry, b: RegistryEntry): number {
  if (a.name === b.name) return compareVersions(b.version, a.version)
  return a.name < b.name ? -1 : 1
}

/** When the latest entry of each publisher was published, by the key of the publisher. */
export type LatestEntries = Readonly<Record<string, string>>

export function findLatest(entries: readonly RegistryEntry[]): LatestEntries {
  const latest: Record<string, string> = {}
  for (const { key, published } of entries) {
    const known = latest[key]
    if (known === undefined || known < published) latest[key] = published
  }
  return latest
}

/**
 * Throws an `Error` if an index is older than one seen before. With an old index, an attacker could
 * hide a version that fixes a weakness. `registry` is the name of the registry for the message.
 */
export function assertNotOlder(
  entries: readonly RegistryEntry[],
  seen: LatestEntries,
  registry: string,
): void {
  const latest = findLatest(entries)
  for (const [key, time] of Object.entries(seen)) {
    const found = latest[key]
    if (found !== undefined && found >= time) continue
    const before = `it had an entry of ${time} that is signed with the key ${key}`
    const now = found === undefined ? 'contains none now' : `has nothing after ${found} now`
    throw new Error(
      `${registry} is older than when it was read before: ${before}, and ${now}. Ask who maintains it`,
    )
  }
}
