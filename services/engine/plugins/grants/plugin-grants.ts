import { readFileSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { EyrieError } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { pluginName } from '@eyrie/contract/plugin'
import { type PluginGrant, pluginGrant } from '@eyrie/contract/plugin-grant'
import type { RequestedCapability } from '@eyrie/contract/requested-capability'
import { writeDurably } from '@eyrie/kit/durable-file'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'
import type { KnownPlugin } from '../../plugin-host/known-plugin.ts'
import {
  findNewCapabilities,
  formatRequested,
  type VersionRequest,
  versionRequest,
} from './requested-capabilities.ts'

/** The grants of each plugin, oldest first: what a version asked for when a person granted it. */
const grantFile = z.record(
  pluginName,
  z.array(
    pluginGrant.omit({ capabilities: true }).extend({
      elements: versionRequest,
      /** The publishers to whose versions the grant applies: those before the plugin got another one. All by default. */
      publishers: z.array(z.string()).optional(),
    }),
  ),
)
type Grants = z.infer<typeof grantFile>

/** The parts of a plugin version on which its grants depend. */
export type GrantedVersion = Pick<KnownPlugin, 'name' | 'version' | 'origin' | 'elements' | 'folder'>

/**
 * What uploaded plugins were granted. Grants add up, so that switching back to an earlier version needs none. Plugins that
 * were not uploaded need no grants: the owner of the machine has put them there.
 */
export interface PluginGrants {
  /** Returns the names of the plugins that were granted something. */
  names(): string[]
  /** Lists the grants of a plugin, oldest first, each with what it has added to the earlier ones. */
  list(name: string): PluginGrant[]
  /** Returns what a version asks for beyond what its plugin was granted. */
  findMissing(plugin: GrantedVersion): RequestedCapability[]
  /** Returns why a version does not run; undefined if it is granted all that it asks for. */
  findRefusal(plugin: GrantedVersion): EyrieError | undefined
  /** Throws `EyrieError` (`grant`) if a version asks for more than its plugin was granted. */
  assertGranted(plugin: GrantedVersion): void
  /** Grants everything that a version asks for. `client`: the IP address of the client that grants it. */
  grant(plugin: GrantedVersion, client: string | undefined): Promise<void>
  /** Limits the existing grants of a plugin to the publishers of these versions. Called before it gets another publisher. */
  limitToPublishers(name: string, versions: readonly GrantedVersion[]): Promise<void>
  /** Withdraws all grants of a plugin. */
  withdraw(name: string): Promise<void>
  /** Returns a message that the file of grants is damaged, with the remedy; undefined if it is intact. */
  damage(): string | undefined
}

export interface PluginGrantsOptions {
  /** File that contains the grants. */
  file: string
  /** Returns who has published a version. */
  identifyPublisher(version: GrantedVersion): string
  log: Log
  now?: () => Date
}

/** Opens the grants. If the file is damaged, nothing is granted, and the file is preserved until a person grants something. */
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

  const findRefusal = (plugin: GrantedVersion) => {
    const missing = findMissing(plugin)
    if (missing.length === 0) return undefined
    const { name, version } = plugin
    return new EyrieError(
      'grant',
      `version ${version} of ${name} asks for more than was granted: ${formatRequested(missing)}. ` +
        `To grant it: eyrie plugin use ${name} ${version} --grant, or "grant": true in the body of the request`,
      { value: { not_granted: missing } },
    )
  }

  return {
    names: () => Object.keys(grants),
    list: name => {
      const earlier: VersionRequest[] = []
      return listStored(name).map(({ elements, publishers: _, ...grant }) => {
        const capabilities = findNewCapabilities(elements, earlier)
        earlier.push(elements)
        return { ...grant, capabilities }
      })
    },
    findMissing,
    findRefusal,
    assertGranted: plugin => {
      const refusal = findRefusal(plugin)
      if (refusal) throw refusal
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
      // Grants that are limited already remain as they are.
      const limited = listStored(name).map(grant => ({ publishers, ...grant }))
      return save({ ...grants, [name]: limited })
    },
    withdraw: async name => {
      const { [name]: withdrawn, ...others } = grants
      if (withdrawn) await save(others)
    },
    damage: () => damage,
  }
}

function toVersionRequest({ elements }: GrantedVersion): VersionRequest {
  const requests = elements.map(({ manifest: { name, needs, capabilities } }) => {
    const readsPictures = needs.includes('pixels')
    return [name, { readsPictures, ...(capabilities && { capabilities }) }] as const
  })
  return Object.fromEntries(requests)
}

function readGrants(file: string, log: Log): { grants: Grants; damage: string | undefined } {
  try {
    return { grants: parseAs(grantFile, JSON.parse(readFileSync(file, 'utf8'))), damage: undefined }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return { grants: {}, damage: undefined }
    log.error({ file, reason: message }, 'failed to read grants of plugins')
    const damage =
      `${file} is damaged, so that uploaded plugins are granted nothing: restore it from a backup and restart the engine, ` +
      'or grant again what each plugin asks for with eyrie plugin use <name> <version> --grant'
    return { grants: {}, damage }
  }
}
