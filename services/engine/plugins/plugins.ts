import {
  EyrieError,
  isDevelopmentVersion,
  type Plugin,
  type PluginGrant,
  type PluginInspection,
  type PluginSwitch,
  type QuarantinedPlugin,
} from '@eyrie/contract'
import { hashPackage } from '@eyrie/plugin-signature/package-files'
import { Mutex } from 'async-mutex'
import type { Catalog } from '../catalog/catalog.ts'
import type { Configuration, ConfiguredPipelines } from '../configuration/configuration.ts'
import { assertIfMatch, computeEtag, type WithEtag } from '../configuration/etag.ts'
import type { KnownElement, KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { PluginQuarantine } from '../plugin-host/sandbox/plugin-quarantine.ts'
import type { Sandboxes } from '../plugin-host/sandbox/sandboxes.ts'
import { acceptPublisher, assertSuccessorGranted, listGrantAlarms } from './active-grants.ts'
import type { PluginGrants } from './grants/plugin-grants.ts'
import { inspectElements } from './inspect-elements.ts'
import {
  collectElements,
  describePackage,
  describePlugin,
  describePlugins,
  findActiveVersion,
  findElementCollision,
  hasUploadedVersion,
  type InstalledPlugins,
  listVersions,
} from './installed-plugins.ts'
import { computeDigest } from './package-digests.ts'
import type { PluginStore } from './plugin-store.ts'
import { findIncompatiblePipelines, findUsers } from './plugin-usage.ts'
import { readUploadedPlugin } from './read-uploaded-plugin.ts'
import { listRefusedVersions } from './refused-versions.ts'
import { assertAccepted, assertMayRun, assertUnchanged } from './trust/package-acceptance.ts'
import { type PackageClaim, readClaim } from './trust/package-claim.ts'
import type { PluginTrust } from './trust/plugin-trust.ts'
import { toVersionSignature } from './trust/signature-policy.ts'
import { type UnpackLimits, unpackPackage } from './unpack-package.ts'

/** The parts of the engine that the management of plugins depends on. */
export interface PluginsDependencies {
  store: PluginStore
  /** Creates the catalog of these elements and all models. */
  createCatalogFor(elements: ReadonlyMap<string, KnownElement>): Catalog
  configuration: Pick<Configuration, 'runExclusive'>
  quarantine: PluginQuarantine
  grants: PluginGrants
  trust: Pick<PluginTrust, 'policy' | 'alarms'>
  sandboxes: Pick<Sandboxes, 'assertIsolated' | 'isolation'>
  /** Opens failed elements of a channel again, without waiting for the next attempt. */
  retryChannel(channel: number): void
  limits: UnpackLimits
}

export interface UploadOptions {
  /** IP address of the client. */
  client: string
  ifMatch?: string | undefined
  /** Whether the package may be signed by another publisher than the installed versions of the plugin. */
  acceptsNewPublisher?: boolean
}

/**
 * Manages the installed plugins, which provide the elements (steps) of pipelines. Changes are atomic, and channels that
 * do not use the plugin continue to run.
 */
export interface Plugins {
  list(): WithEtag<Plugin[]>
  get(name: string): WithEtag<Plugin>
  /** Returns what a package contains and asks for. Runs none of its code. */
  inspect(archive: Uint8Array): Promise<PluginInspection>
  /** Lists what was granted to a plugin, oldest first. */
  listGrants(name: string): PluginGrant[]
  /**
   * Adds a version of a plugin. The first version becomes active, and is granted what it asks for. The result is
   * `unchanged` if the version is already installed with the same content.
   */
  upload(archive: Uint8Array, options: UploadOptions): Promise<WithEtag<Plugin> & { unchanged: boolean }>
  /**
   * Makes a version active. Throws `EyrieError`: `reference` if it is incompatible with existing pipelines, `grant` if it asks
   * for more than was granted.
   */
  use(name: string, selection: PluginSwitch, client: string, ifMatch?: string): Promise<WithEtag<Plugin>>
  remove(name: string, version: string, ifMatch?: string): Promise<void>
  /** Releases all versions of a plugin from quarantine, so that they run again on all channels. */
  release(name: string, ifMatch?: string): Promise<WithEtag<Plugin>>
  /** Plugins that do not run, about which a person must decide. */
  alarms(): string[]
  /** Aborts the inspection of uploaded plugins. */
  stop(): void
}

export function createPlugins({
  store,
  createCatalogFor,
  configuration,
  quarantine,
  grants,
  trust,
  sandboxes,
  retryChannel,
  limits,
}: PluginsDependencies): Plugins {
  const mutex = new Mutex()
  const stopping = new AbortController()

  const findSignature = (plugin: KnownPlugin) =>
    plugin.origin === 'uploaded'
      ? toVersionSignature(readClaim(plugin), plugin.name, trust.policy())
      : undefined
  const readConditions = () => ({
    quarantined: quarantine.list(),
    findSignature,
    findMissing: grants.findMissing,
  })

  const list = () => toTagged(describePlugins(store.installed(), readConditions()))

  function get(name: string): WithEtag<Plugin> {
    const plugin = describePlugin(store.installed(), name, readConditions())
    if (!plugin) throw new EyrieError('id', `plugin ${name} does not exist`)
    return toTagged(plugin)
  }

  /** Adds a plugin to the store. Returns false if the version is already installed with the same content. */
  async function install(
    plugin: KnownPlugin,
    claim: PackageClaim,
    { client, acceptsNewPublisher = false }: UploadOptions,
  ): Promise<boolean> {
    const installed = store.installed()
    const { name, version } = plugin
    const existing = listVersions(installed, name).find(candidate => candidate.version === version)
    if (existing && (await isIdentical(existing, plugin))) return false
    if (existing && !isDevelopmentVersion(version))
      throw new EyrieError(
        'conflict',
        `version ${version} of ${name} already exists with different content: upload it as another version, or as a development version such as ${version}-dev, which later uploads replace`,
      )

    const policy = trust.policy()
    assertAccepted({ name, version, claim }, policy)
    const uploaded = listVersions(installed, name).filter(({ origin }) => origin === 'uploaded')
    await acceptPublisher({ name, version, claim }, { uploaded, policy, grants, acceptsNewPublisher })
    if (existing) return replace(existing, plugin)

    const isFirst = !findActiveVersion(installed, name)
    if (isFirst) assertNoElementCollision(installed, plugin)
    assertIsolated(sandboxes)
    await inspectElements(plugin, stopping.signal)
    if (!hasUploadedVersion(installed, name)) {
      // Left over if the installation of another package has failed.
      await grants.withdraw(name)
      await grants.grant(plugin, client)
    }

    // The first version becomes active, which starts the channels that wait for its elements.
    if (isFirst) await configuration.runExclusive(() => store.add(plugin))
    else await store.add(plugin)
    return true
  }

  /** Replaces the files of a development version. Channels that use it restart with the new code. */
  async function replace(existing: KnownPlugin, plugin: KnownPlugin): Promise<true> {
    const { name, version, origin } = existing
    if (origin !== 'uploaded')
      throw new EyrieError(
        'conflict',
        `version ${version} of ${name} was not uploaded: change its files in ${existing.folder}`,
      )
    assertIsolated(sandboxes)
    await inspectElements(plugin, stopping.signal)

    const installed = store.installed()
    const plugins = installed.plugins.map(other => (other === existing ? plugin : other))
    const isActive = findActiveVersion(installed, name) === existing
    if (isActive) assertNoElementCollision({ ...installed, plugins }, plugin)
    await configuration.runExclusive(async configured => {
      if (isActive) assertPipelinesRemainValid(configured, { ...installed, plugins }, version)
      await store.replace(existing, plugin)
    })
    quarantine.release(name, version)
    return true
  }

  /** Throws `EyrieError` (`reference`) if `next`, in which `version` is selected, makes pipelines invalid. */
  function assertPipelinesRemainValid(
    configured: ConfiguredPipelines,
    next: InstalledPlugins,
    version: string,
  ): void {
    const incompatible = findIncompatiblePipelines(
      configured,
      createCatalogFor(store.elements),
      createCatalogFor(collectElements(next)),
    )
    if (incompatible.length === 0) return

    const reasons = incompatible.map(({ reason }) => reason).join('; ')
    throw new EyrieError(
      'reference',
      `version ${version} is incompatible with the args or config of pipelines: ${reasons}`,
      { value: { pipelines: incompatible.map(({ pipeline }) => pipeline) } },
    )
  }

  const inspect: Plugins['inspect'] = archive =>
    mutex.runExclusive(() =>
      store.withDraftFolder(async draft => {
        const folder = await unpackPackage(archive, draft, limits)
        const claim = await assertUnchanged(folder)
        const plugin = await readUploadedPlugin(folder)
        return {
          ...describePackage(plugin, store.installed()),
          not_granted: grants.findMissing(plugin),
          signature: toVersionSignature(claim, plugin.name, trust.policy()),
          isolation: sandboxes.isolation,
        }
      }),
    )

  const listGrants: Plugins['listGrants'] = name => {
    get(name)
    return grants.list(name)
  }

  const upload: Plugins['upload'] = (archive, options) =>
    mutex.runExclusive(() =>
      store.withDraftFolder(async draft => {
        assertIfMatch(options.ifMatch, list().etag)
        const folder = await unpackPackage(archive, draft, limits)
        const claim = await assertUnchanged(folder)
        const plugin = await readUploadedPlugin(folder)
        const isNew = await install(plugin, claim, options)
        return { ...get(plugin.name), unchanged: !isNew }
      }),
    )

  const use: Plugins['use'] = (name, { version, grant }, client, ifMatch) =>
    mutex.runExclusive(async () => {
      assertIfMatch(ifMatch, get(name).etag)
      const installed = store.installed()
      const plugin = getVersion(installed, name, version)
      if (plugin.origin === 'uploaded')
        assertMayRun({ name, version, claim: readClaim(plugin) }, trust.policy())
      if (!grant) grants.assertGranted(plugin)
      const isMoreGranted = grants.findMissing(plugin).length > 0
      const isActive = findActiveVersion(installed, name) === plugin
      if (isActive && !isMoreGranted) return get(name)

      assertNoElementCollision(installed, plugin)
      const next: InstalledPlugins = { ...installed, selected: { ...installed.selected, [name]: version } }
      await configuration.runExclusive(async configured => {
        assertPipelinesRemainValid(configured, next, version)
        if (isMoreGranted) await grants.grant(plugin, client)
        await store.select(name, version)
      })
      return get(name)
    })

  const remove: Plugins['remove'] = (name, version, ifMatch) =>
    mutex.runExclusive(async () => {
      assertIfMatch(ifMatch, get(name).etag)
      const plugin = getVersion(store.installed(), name, version)
      assertUploaded(plugin)

      await configuration.runExclusive(async ({ pipelines }) => {
        assertUnused(plugin, findUsers(plugin, pipelines, store.elements))
        assertSuccessorGranted(grants, store.installed(), plugin)
        await store.remove(plugin)
        quarantine.release(name, version)
        if (!hasUploadedVersion(store.installed(), name)) await grants.withdraw(name)
      })
    })

  const release: Plugins['release'] = (name, ifMatch) =>
    mutex.runExclusive(async () => {
      assertIfMatch(ifMatch, get(name).etag)
      for (const { channel } of quarantine.release(name)) retryChannel(channel)
      return get(name)
    })

  function alarms(): string[] {
    const hasUploads = store.installed().plugins.some(({ origin }) => origin === 'uploaded')
    const refusal = hasUploads ? findRefusal(sandboxes) : undefined
    return [
      ...(refusal === undefined ? [] : [refusal]),
      ...trust.alarms(),
      ...listRefusedVersions(store.installed(), trust.policy()).map(({ reason }) => reason),
      ...quarantine.list().map(describeQuarantine),
      ...listGrantAlarms(grants, store.installed()),
    ]
  }

  return {
    list,
    get,
    inspect,
    listGrants,
    upload,
    use,
    remove,
    release,
    alarms,
    stop: () => stopping.abort(),
  }
}

/**
 * Entity tags are keyed hashes, so that they do not reveal secrets. Plugins contain no secrets, so the key can be
 * public.
 */
const toTagged = <T>(value: T): WithEtag<T> => ({ value, etag: computeEtag('plugins', value) })

/** Throws `EyrieError` (`id`) if the version is not installed. */
function getVersion(installed: InstalledPlugins, name: string, version: string): KnownPlugin {
  const versions = listVersions(installed, name)
  const plugin = versions.find(candidate => candidate.version === version)
  if (plugin) return plugin

  const available = versions.map(candidate => candidate.version).join(', ')
  throw new EyrieError('id', `plugin ${name} has no version ${version}; available: ${available}`)
}

/** A plugin that contains links, which only a folder of the owner can, is identical to no package. */
async function isIdentical(existing: KnownPlugin, plugin: KnownPlugin): Promise<boolean> {
  const digest = computeDigest(await hashPackage(plugin.folder))
  const files = await hashPackage(existing.folder).catch(() => undefined)
  return files !== undefined && computeDigest(files) === digest
}

/** `users` are the ids of the pipelines that use the plugin. */
function assertUnused({ name, version }: KnownPlugin, users: readonly number[]): void {
  if (users.length === 0) return
  throw new EyrieError(
    'reference',
    `pipelines ${users.join(', ')} use version ${version} of ${name}: change them or select another version first`,
    { value: { pipelines: users } },
  )
}

const describeQuarantine = ({ plugin, version, channel, reason }: QuarantinedPlugin) =>
  `version ${version} of plugin ${plugin} no longer runs on channel ${channel}, because it crashed repeatedly (${reason}): use another version, or release it with eyrie plugin release ${plugin}`

function assertNoElementCollision(installed: InstalledPlugins, plugin: KnownPlugin): void {
  const collision = findElementCollision(installed, plugin)
  if (!collision) return
  throw new EyrieError(
    'conflict',
    `plugin ${collision.plugin.name} already has an element ${collision.manifest.name}`,
  )
}

function assertUploaded({ name, version, origin, folder }: KnownPlugin): void {
  if (origin === 'uploaded') return
  throw new EyrieError(
    'conflict',
    origin === 'built-in'
      ? `version ${version} of ${name} is built in and cannot be removed: use another version instead`
      : `version ${version} of ${name} was not uploaded: remove it from ${folder}`,
  )
}

/** Uploaded code runs only within the boundaries that the owner of the machine accepts. */
function assertIsolated(sandboxes: Pick<Sandboxes, 'assertIsolated'>): void {
  const refusal = findRefusal(sandboxes)
  if (refusal !== undefined) throw new EyrieError('conflict', refusal)
}

/** Returns why uploaded code does not run on this machine; undefined if it does. */
function findRefusal(sandboxes: Pick<Sandboxes, 'assertIsolated'>): string | undefined {
  try {
    sandboxes.assertIsolated()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
