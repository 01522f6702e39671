import type { TrustedPlugins } from '@eyrie/contract'
import { compareVersions } from '@eyrie/contract/compare-versions'
import { pluginName, pluginVersion } from '@eyrie/contract/plugin'
import { checkSdkRange } from '@eyrie/contract/sdk-version'
import type { RegistryEntry } from '@eyrie/plugin-signature/registry-entry'
import { UsageError } from '../command/command.ts'
import { type RegistryIndex, toLabel } from './registry-index.ts'

/** Selects the entry of a registry that `eyrie plugin install` installs. */

/** The plugin to install. */
export interface RequestedVersion {
  name: string
  /**
   * A complete version, or the beginning of versions such as `1.2`. Undefined selects any version.
   */
  version: string | undefined
}

/** What the engine allows. */
export interface EnginePolicy {
  trust: Pick<TrustedPlugins, 'publishers' | 'exceptions'>
  /** Version of the element SDK. */
  sdk: string
}

/** The beginning of versions: `1` or `1.2`. */
const VERSION_PREFIX = /^\d+(\.\d+)?$/

/** Parses `name`, `name@1`, `name@1.2` or `name@1.2.3`. Throws `UsageError`. */
export function parseRequestedVersion(text: string): RequestedVersion {
  const [name, version, ...rest] = text.split('@')
  const isName = pluginName.safeParse(name).success
  const isVersion =
    version === undefined ||
    VERSION_PREFIX.test(version) ||
    pluginVersion.safeParse(version).success
  if (name !== undefined && isName && isVersion && rest.length === 0) return { name, version }
  throw new UsageError(`${text} should be a plugin such as crowd, crowd@1.2 or crowd@1.2.3`)
}

/**
 * Returns the highest version of a plugin that is requested, comes from a trusted publisher, and
 * runs with the SDK of the engine. A prerelease is selected only by its full version. `publisher`
 * is a name or a key; it is required if several trusted publishers have published the plugin.
 * Throws an `Error` with the reason if there is no such version.
 */
export function selectEntry(
  index: RegistryIndex,
  request: RequestedVersion,
  { trust, sdk }: EnginePolicy,
  publisher?: string,
): RegistryEntry {
  const requested = findRequested(index, request)
  const trusted = filterAcceptable(requested, entry => findRefusal(entry, trust))
  const suitable = filterAcceptable(trusted, entry => checkSdkRange(entry.sdk, sdk))

  const chosen = suitable.filter(
    entry =>
      publisher === undefined ||
      entry.key === publisher ||
      getTrustedName(entry, trust) === publisher,
  )
  const [highest] = chosen
  if (!highest) {
    throw new Error(`${publisher} has not published ${formatRequest(request)} in the registry`)
  }
  const publishers = [...new Set(chosen.map(entry => getTrustedName(entry, trust)))]
  if (publishers.length === 1) return highest
  const names = publishers.join(' and ')
  throw new Error(`${formatRequest(request)} is published by ${names}: choose one with --publisher`)
}

/**
 * Returns the entries with a requested version, the highest first. Throws an `Error` if there are
 * none.
 */
function findRequested(index: RegistryIndex, request: RequestedVersion): RegistryEntry[] {
  const { name, version } = request
  const named = index.entries.filter(entry => entry.name === name)
  const requested = named.filter(entry => matches(entry.version, version))
  if (requested.length > 0) return requested.sort((a, b) => compareVersions(b.version, a.version))

  const rejected = index.rejected.find(
    entry => entry.name === name && matches(entry.version, version),
  )
  if (rejected) throw new Error(`${toLabel(rejected)}: ${rejected.reason}`)
  if (named.length === 0) {
    throw new Error(`the registry has no plugin ${name}: eyrie plugin search lists what it has`)
  }
  const available = named.map(entry => entry.version).join(', ')
  throw new Error(`the registry has no ${formatRequest(request)}; available: ${available}`)
}

/**
 * Returns the entries without an obstacle. If all have one, throws an `Error` with the obstacle of
 * the first entry, which is the highest version. `findObstacle` returns the reason why an entry
 * cannot be installed, or undefined.
 */
function filterAcceptable(
  entries: readonly RegistryEntry[],
  findObstacle: (entry: RegistryEntry) => string | undefined,
): RegistryEntry[] {
  const acceptable = entries.filter(entry => findObstacle(entry) === undefined)
  if (acceptable.length > 0) return acceptable
  const [highest] = entries
  throw new Error(`${toLabel(highest!)}: ${findObstacle(highest!)}`)
}

/** Formats a request as users write it, such as `crowd@1.2`. */
const formatRequest = ({ name, version }: RequestedVersion) =>
  version === undefined ? name : `${name}@${version}`

/** Whether a version is requested: in full, by its beginning, or because any release is. */
function matches(version: string, requested: string | undefined): boolean {
  if (version === requested) return true
  const isPrerelease = version.includes('-')
  if (isPrerelease) return false
  return requested === undefined || version.startsWith(`${requested}.`)
}

/**
 * Returns the name that the owner of the engine has given to the key of an entry, or else the key.
 * The name in the entry itself cannot be trusted, because any publisher can use any name.
 */
const getTrustedName = ({ key }: RegistryEntry, { publishers }: EnginePolicy['trust']): string =>
  publishers.find(publisher => publisher.key === key && publisher.state === 'trusted')?.name ?? key

/**
 * Returns why the publisher of an entry is refused; undefined if it is not. An unknown publisher is
 * refused even if the engine trusts no publisher yet, and would accept the package as a file: a
 * person chooses a file, but anyone can publish in a registry.
 */
function findRefusal(
  { name, publisher, key }: RegistryEntry,
  { publishers, exceptions }: EnginePolicy['trust'],
): string | undefined {
  const known = publishers.find(candidate => candidate.key === key)
  if (known?.state === 'trusted') return undefined
  if (known) {
    const remedy = `choose another version, or trust the publisher again with eyrie plugin trust ${key}`
    return `its publisher ${known.name} has been distrusted since ${known.since}: ${remedy}`
  }

  if (exceptions.includes(name)) return undefined
  const problem = `it is signed by an unknown publisher that calls itself ${JSON.stringify(publisher)}`
  const trust = `trust it with eyrie plugin trust ${key} --name <name>`
  const allow = `accept the plugin with eyrie plugin allow ${name}`
  return `${problem}: if its key is genuine, ${trust}, or ${allow}`
}
