import { type Client, readHealth } from '@eyrie/client'
import { engineHealth, type PluginInspection } from '@eyrie/contract'
import { SDK_VERSION } from '@eyrie/contract/sdk-version'
import type { RegistryEntry } from '@eyrie/plugin-signature/registry-entry'
import { type Command, parseArguments } from '../command/command.ts'
import type { Terminal } from '../command/terminal.ts'
import { connectToChangePlugins, ENGINE_OPTIONS, getEngineUrl } from '../engine/engine-access.ts'
import { INSTALL_OPTIONS, installPackage } from '../plugin/install-package.ts'
import { assertNotOlder, type RegistryIndex, toLabel } from './registry-index.ts'
import {
  findRegistryLocation,
  openRegistry,
  REGISTRY_OPTION,
  type Registry,
  readIndex,
  readPackage,
} from './registry-location.ts'
import { readSeen, recordSeen } from './seen-indexes.ts'
import { type EnginePolicy, parseRequestedVersion, selectEntry } from './select-entry.ts'

/**
 * `eyrie plugin install`: installs a plugin from a registry. An engine can install from any
 * registry, because it trusts the publishers of plugins, not registries.
 */
export const installPluginCommand: Command = {
  usage:
    '<name[@version]> [--registry <folder|url>] [--publisher NAME] [--new-publisher] [--yes] [--json]\n' +
    '      [--url URL] [--token TOKEN]',
  about:
    'Installs a plugin from a registry if the engine trusts its publisher, as eyrie plugin add does. @1.2 selects the highest\n' +
    'version that begins so, and runs with the SDK of the engine. --publisher selects one of several trusted publishers.',

  async run(args, terminal) {
    const options = {
      publisher: { type: 'string' },
      ...REGISTRY_OPTION,
      ...INSTALL_OPTIONS,
      ...ENGINE_OPTIONS,
    } as const
    const { values, positionals } = parseArguments(args, options, ['plugin'])
    const requested = parseRequestedVersion(positionals[0])
    const registry = openRegistry(findRegistryLocation(values.registry, terminal), terminal)
    const engine = connectToChangePlugins(values, terminal)
    const policy = await readPolicy(engine, getEngineUrl(values, terminal))

    const index = await readCurrentIndex(registry, policy, terminal)
    const entry = selectEntry(index, requested, policy, values.publisher)
    const archive = await readPackage(registry, entry)
    await installPackage(engine, archive, values, terminal, inspection =>
      assertSame(inspection, entry),
    )
  },
}

/**
 * Reads whom the engine trusts, and the version of its SDK. An engine that does not report the
 * version is assumed to have that of this machine.
 */
async function readPolicy(engine: Client, url: string): Promise<EnginePolicy> {
  const trust = await engine.pluginTrust.get()
  const health = engineHealth.pick({ element_sdk: true }).safeParse(await readHealth(url))
  return { trust, sdk: health.data?.element_sdk ?? SDK_VERSION }
}

/**
 * Reads the index of a registry. Throws an `Error` if it is older than an index that this
 * machine has read before.
 */
async function readCurrentIndex(
  registry: Registry,
  { trust }: EnginePolicy,
  { data }: Terminal,
): Promise<RegistryIndex> {
  const index = await readIndex(registry)
  const trustedKeys = trust.publishers
    .filter(({ state }) => state === 'trusted')
    .map(({ key }) => key)
  const seen = Object.entries(await readSeen(data, registry.name))
  const relevant = seen.filter(([key]) => trustedKeys.includes(key))
  assertNotOlder(index.entries, Object.fromEntries(relevant), registry.name)
  await recordSeen(data, registry.name, index.entries, trustedKeys)
  return index
}

/** Throws an `Error` if the package is not the one that its entry describes. */
function assertSame({ name, version, signature }: PluginInspection, entry: RegistryEntry): void {
  if (name === entry.name && version === entry.version && signature.key === entry.key) return
  const actual = `${toLabel({ name, version })}, signed with the key ${signature.key}`
  throw new Error(
    `the package of ${toLabel(entry)} contains ${actual}: do not use it, and inform its publisher`,
  )
}
