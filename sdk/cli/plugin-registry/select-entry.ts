import type { TrustedPlugins } from '@eyrie/contract'
import { compareVersions } from '@eyrie/contract/compare-versions'
import { pluginName, pluginVersion } from '@eyrie/contract/plugin'
import { checkSdkRange } from '@eyrie/contract/sdk-version'
import type { RegistryEntry } from '@eyrie/plugin-signature/registry-entry'
import { UsageError } from '../command/command.ts'
import { type RegistryIndex, toLabel } from './registry-index.ts'

/** Selects what `eyrie plugin install` installs. */

/** A plugin, and the version or the beginning of a version: the highest version is selected that begins so. */
export interface RequestedVersion {
  name: string
  version: string | undefined
}

/** What the engine allows. */
export interface EnginePolicy {
  trust: Pick<TrustedPlugins, 'publishers' | 'exceptions'>
  /** Version of the element SDK. */
  sdk: string
}

/** Parses `name`, `name@1`, `name@1.2` or `name@1.2.3`. Throws `UsageError`. */
export function parseRequestedVersion(text: string): RequestedVersion {
  const [name = '', version] = text.split('@', 2)
  const isPrefix = version !== undefined && /^\d+(\.\d+)?$/.test(version)
  const isVersion = version === undefined || isPrefix || pluginVersion.safeParse(version).success
  if (pluginName.safeParse(name).success && isVersion && text.split('@').length <= 2) return { name, version }
  throw new UsageError(`${text} should be a plugin such as crowd, crowd@1.2 or crowd@1.2.3`)
}

/**
 * Returns the highest version of a plugin that is requested, comes from a trusted publisher, and runs with the SDK of the
 * engine. Prereleases are selected only by their full version. Throws an `Error` with the reason if there is none.
 * `publisher`: name or key, required if several trusted publishers have published the plugin.
 */
export function selectEntry(
  index: RegistryIndex,
  { name, version }: RequestedVersion,
  { trust, sdk }: EnginePolicy,
  publisher?: string,
): RegistryEntry {
  const label = version === undefined ? name : `${name}@${version}`
  const rejected = index.rejected.filter(entry => entry.name === name && matches(entry.version, version))
  const named = index.entries.filter(entry => entry.name === name)
  const requested = named.filter(entry => matches(entry.version, version)).sort(byVersion)
  if (requested.length === 0 && rejected[0]) throw new Error(`${toLabel(rejected[0])}: ${rejected[0].reason}`)
  if (named.length === 0)
    throw new Error(`the registry has no plugin ${name}: eyrie plugin search lists what it has`)
  if (requested.length === 0) {
    const available = named.map(entry => entry.version).join(', ')
    throw new Error(`the registry has no ${label}; available: ${available}`)
  }

  const trusted = requested.filter(entry => findRefusal(entry, trust) === undefined)
  if (trusted.length === 0) throw new Error(`${toLabel(requested[0]!)}: ${findRefusal(requested[0]!, trust)}`)
  const suitable = trusted.filter(entry => checkSdkRange(entry.sdk, sdk) === undefined)
  if (suitable.length === 0)
    throw new Error(`${toLabel(trusted[0]!)}: ${checkSdkRange(trusted[0]!.sdk, sdk)}`)

  const chosen = suitable.filter(
    entry => publisher === undefined || entry.key === publisher || nameOf(entry, trust) === publisher,
  )
  if (chosen.length === 0) throw new Error(`${publisher} has not published ${label} in the registry`)
  const publishers = [...new Set(chosen.map(entry => nameOf(entry, trust)))]
  if (publishers.length > 1)
    throw new Error(`${label} is published by ${publishers.join(' and ')}: choose one with --publisher`)
  return chosen[0]!
}

function matches(version: string, requested: string | undefined): boolean {
  if (version === requested) return true
  const isPrerelease = version.includes('-')
  return !isPrerelease && (requested === undefined || version.startsWith(`${requested}.`))
}

const byVersion = (a: RegistryEntry, b: RegistryEntry) => compareVersions(b.version, a.version)

/** The name that the owner of the engine has given to the key: anyone can use the name in the entry. */
const nameOf = ({ key }: RegistryEntry, { publishers }: EnginePolicy['trust']): string =>
  publishers.find(publisher => publisher.key === key && publisher.state === 'trusted')?.name ?? key

/**
 * Returns why an entry is not installed. A registry is a place of others: unlike a file that a person has chosen, an unknown
 * publisher is refused there also as long as the engine trusts none.
 */
function findRefusal(
  { name, publisher, key }: RegistryEntry,
  { publishers, exceptions }: EnginePolicy['trust'],
): string | undefined {
  const known = publishers.find(candidate => candidate.key === key)
  if (known?.state === 'trusted') return undefined
  if (known)
    return `its publisher ${known.name} has been distrusted since ${known.since}: choose another version, or trust the publisher again with eyrie plugin trust ${key}`
  if (exceptions.includes(name)) return undefined
  return `it is signed by an unknown publisher that calls itself ${JSON.stringify(publisher)}: if its key is genuine, trust it with eyrie plugin trust ${key} --name <name>, or accept the plugin with eyrie plugin allow ${name}`
}
