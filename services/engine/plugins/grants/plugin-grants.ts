import { copyFile } from 'node:fs/promises'
import { EyrieError } from '@eyrie/contract'
import { pluginName } from '@eyrie/contract/plugin'
import { type PluginGrant, pluginGrant } from '@eyrie/contract/plugin-grant'
import type { RequestedCapability } from '@eyrie/contract/requested-capability'
import { writeDurably } from '@eyrie/kit/durable-file'
import { readJsonFile } from '@eyrie/kit/json-file'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'
import type { KnownPlugin } from '../../plugin-host/known-plugin.ts'
import {
  findNewCapabilities,
  formatRequested,
  type VersionRequest,
  versionRequest,
} from './requested-capabilities.ts'

/** The content of the file: the grants of each plugin, oldest first. */
const grantFile = z.record(
  pluginName,
  z.array(
    pluginGrant.omit({ capabilities: true }).extend({
      /** What was granted: everything that the version asked for at that time. */
      elements: versionRequest,
      /**
       * The publishers to whose versions the grant is limited. Set when the plugin changes
       * to another publisher.
       */
      publishers: z.array(z.string()).optional(),
    }),
  ),
)
type Grants = z.infer<typeof grantFile>

/** The parts of a plugin version on which its grants depend. */
export type GrantedVersion = Pick<
  KnownPlugin,
  'name' | 'version' | 'origin' | 'elements' | 'folder'
>

/**
 * What the owner of the engine has granted to uploaded plugins, such as pictures or network access.
 * A version that asks for more than its plugin was granted does not run. Grants add up, so
 * switching back to an earlier version needs no new grant. Plugins that were not uploaded need no
 * grants, because the owner has put them on the machine.
 */
export interface PluginGrants {
  /** Lists the names of the plugins that were granted something. */
  listPlugins(): string[]
  /**
   * Lists the grants of a plugin, oldest first. Each contains only the capabilities that it adds
   * to the earlier ones.
   */
  list(name: string): PluginGrant[]
  /** Returns what a version asks for beyond what its plugin was granted. */
  findMissing(plugin: GrantedVersion): RequestedCapability[]
  /**
   * Returns why a version does not run, with the remedy; undefined if everything that it
   * asks for was granted.
   */
  describeRefusal(plugin: GrantedVersion): string | undefined
  /** Throws `EyrieError` (`grant`) if a version asks for more than its plugin was granted. */
  assertGranted(plugin: GrantedVersion): void
  /**
   * Grants everything that a version asks for. `client`: the IP address of the
   * client that grants it.
   */
  grant(plugin: GrantedVersion, client: string | undefined): Promise<void>
  /**
   * Limits the existing grants of a plugin to the publishers of these versions. Called before it
   * gets another publisher.
   */
  limitToPublishers(name: string, versions: readonly GrantedVersion[]): Promise<void>
  /** Withdraws all grants of a plugin. */
  withdraw(name: string): Promise<void>
  /**
   * Returns the alarm that the file of grants is damaged, with the remedy; undefined
   * if the file is intact.
   */
  findDamage(): string | undefined
}

export interface PluginGrantsOptions {
  /** File that contains the grants. */
  file: string
  /** Returns an identity that is equal for all versions of a publisher. */
  identifyPublisher(version: GrantedVersion): string
  log: Log
  now?: () => Date
}

/**
 * Opens the grants. If the file is damaged, nothing is granted. The first new grant replaces the
 * damaged file, of which a copy is preserved.
 */
export function openPluginGrants({
  file,
  identifyPublisher,
  log,
  now = () => new Date(),
}: PluginGrantsOptions): PluginGrants {
  let { grants, damage } = readGrants(file, log)

  async function save(next: Grants): Promise<void> {
    if (damage !== undefined) await copyFile(file, `${file}.damaged`)
    damage = undefined
    await writeDurably(file, `${JSON.stringify(next, null, 2)}\n`)
    grants = next
  }

  const listStored = (name: string) => (Object.hasOwn(grants, name) ? grants[name]! : [])

  const findMissing = (plugin: GrantedVersion) => {
    if (plugin.origin !== 'uploaded') return []
    const granted: VersionRequest[] = []
    for (const { elements, publishers } of listStored(plugin.name)) {
      const applies = publishers === undefined || publishers.includes(identifyPublisher(plugin))
      if (applies) granted.push(elements)
    }
    return findNewCapabilities(toVersionRequest(plugin), granted)
  }

  return {
    listPlugins: () => Object.keys(grants),
    list: name => {
      const earlier: VersionRequest[] = []
      return listStored(name).map(({ elements, publishers: _, ...grant }) => {
        const capabilities = findNewCapabilities(elements, earlier)
        earlier.push(elements)
        return { ...grant, capabilities }
      })
    },
    findMissing,
    describeRefusal: plugin => {
      const missing = findMissing(plugin)
      return missing.length > 0 ? describeMissing(plugin, missing) : undefined
    },
    assertGranted: plugin => {
      const missing = findMissing(plugin)
      if (missing.length > 0) {
        throw new EyrieError('grant', describeMissing(plugin, missing), {
          value: { not_granted: missing },
        })
      }
    },
    grant: (plugin, client) => {
      const { name, version } = plugin
      const earlier = listStored(name)
      const hadOtherPublishers = earlier.some(({ publishers }) => publishers !== undefined)
      const grant = {
        version,
        time: now().toISOString(),
        ...(client && { client }),
        elements: toVersionRequest(plugin),
        ...(hadOtherPublishers && { publishers: [identifyPublisher(plugin)] }),
      }
      return save({ ...grants, [name]: [...earlier, grant] })
    },
    limitToPublishers: (name, versions) => {
      const publishers = [...new Set(versions.map(identifyPublisher))]
      // A grant that is limited already keeps its own publishers, which replace the new ones here.
      const limited = listStored(name).map(grant => ({ publishers, ...grant }))
      return save({ ...grants, [name]: limited })
    },
    withdraw: async name => {
      const { [name]: withdrawn, ...others } = grants
      if (withdrawn) await save(others)
    },
    findDamage: () => damage,
  }
}

/** Explains what a version asks for beyond its grants, and how the owner grants it. */
const describeMissing = (
  { name, version }: GrantedVersion,
  missing: readonly RequestedCapability[],
) =>
  `version ${version} of ${name} asks for more than was granted: ${formatRequested(missing)}. ` +
  `To grant it: eyrie plugin use ${name} ${version} --grant, or "grant": true in the body of the request`

function toVersionRequest({ elements }: GrantedVersion): VersionRequest {
  const requests = elements.map(({ manifest: { name, needs, capabilities } }) => {
    const readsPictures = needs.includes('pixels')
    return [name, { readsPictures, ...(capabilities && { capabilities }) }] as const
  })
  return Object.fromEntries(requests)
}

function readGrants(file: string, log: Log): { grants: Grants; damage: string | undefined } {
  try {
    return { grants: readJsonFile(file, grantFile) ?? {}, damage: undefined }
  } catch (error) {
    log.error({ file, reason: (error as Error).message }, 'failed to read grants of plugins')
    const damage =
      `${file} is damaged, so that uploaded plugins are granted nothing: ` +
      'restore it from a backup and restart the engine, ' +
      'or grant again what each plugin asks for with eyrie plugin use <name> <version> --grant'
    return { grants: {}, damage }
  }
}
