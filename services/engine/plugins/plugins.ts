import {
  EyrieError,
  isDevelopmentVersion,
  type Plugin,
  type PluginGrant,
  type PluginInspection,
} from '@eyrie/contract'
import type { Log } from '@eyrie/kit/log'
import { Mutex } from 'async-mutex'
import type { Catalog } from '../catalog/catalog.ts'
import type { Configuration } from '../configuration/configuration.ts'
import { assertIfMatch, computeEtag, type WithEtag } from '../configuration/etag.ts'
import type { KnownElements } from '../plugin-host/known-elements.ts'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { StartShadow } from '../plugin-host/running-shadow.ts'
import type { PluginQuarantine } from '../plugin-host/sandbox/plugin-quarantine.ts'
import type { Sandboxes } from '../plugin-host/sandbox/sandboxes.ts'
import type { VersionHealth } from '../upgrade/version-health.ts'
import { acceptPublisher, assertSuccessorGranted, listGrantAlarms } from './active-grants.ts'
import type { PluginGrants } from './grants/plugin-grants.ts'
import { inspectElements } from './inspect-elements.ts'
import {
  describePackage,
  describePlugin,
  describePlugins,
  findActiveVersion,
  hasUploadedVersion,
  isActiveVersion,
  listVersions,
} from './installed-plugins.ts'
import { createPipelineChecks } from './pipeline-checks.ts'
import {
  assertIsolated,
  assertNoElementCollision,
  assertUnused,
  assertUploaded,
  describeQuarantine,
  getVersion,
  isIdentical,
} from './plugin-checks.ts'
import type { PluginStore } from './plugin-store.ts'
import { findUsingPipelines } from './plugin-usage.ts'
import { readUploadedPlugin } from './read-uploaded-plugin.ts'
import { listRefusedVersions } from './refused-versions.ts'
import { listReverts } from './revert-alarms.ts'
import { assertAccepted, assertUnchanged } from './trust/package-acceptance.ts'
import { type PackageClaim, readClaim } from './trust/package-claim.ts'
import type { PluginTrust } from './trust/plugin-trust.ts'
import { toVersionSignature } from './trust/signature-policy.ts'
import { type UnpackLimits, unpackPackage } from './unpack-package.ts'
import type { SwitchHistory } from './upgrade/switch-history.ts'
import { createVersionSwitches, type VersionSwitches } from './version-switches.ts'

/** The parts of the engine that the management of plugins depends on. */
export interface PluginsDependencies {
  store: PluginStore
  /** Creates the catalog of these elements and all models. */
  createCatalogFor(elements: KnownElements): Catalog
  configuration: Pick<Configuration, 'get' | 'runExclusive'>
  quarantine: PluginQuarantine
  grants: PluginGrants
  trust: Pick<PluginTrust, 'policy' | 'alarms'>
  sandboxes: Pick<Sandboxes, 'findIsolationProblem' | 'isolation'>
  runtime: { retryChannel(channel: number): void; startShadow: StartShadow }
  history: SwitchHistory
  health: Pick<VersionHealth, 'summarize'>
  limits: UnpackLimits
  log: Log
}

export interface UploadOptions {
  /** IP address of the client. */
  client: string
  ifMatch?: string | undefined
  /**
   * Whether the package may be signed by another publisher than the installed
   * versions of the plugin.
   */
  acceptsNewPublisher?: boolean
}

/**
 * Manages the installed plugins, which provide the elements (steps) of pipelines. Changes are
 * atomic, and channels that do not use the plugin continue to run.
 */
export interface Plugins extends Omit<VersionSwitches, 'stop'> {
  list(): WithEtag<Plugin[]>
  get(name: string): WithEtag<Plugin>
  /** Returns what a package contains and asks for. Runs none of its code. */
  inspect(archive: Uint8Array): Promise<PluginInspection>
  /** Lists what was granted to a plugin, oldest first. */
  listGrants(name: string): PluginGrant[]
  /**
   * Adds a version of a plugin. The first version becomes active, and is granted what it asks for.
   * The result is `unchanged` if the version is already installed with the same content.
   */
  upload(
    archive: Uint8Array,
    options: UploadOptions,
  ): Promise<WithEtag<Plugin> & { unchanged: boolean }>
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
  runtime,
  history,
  health,
  limits,
  log,
}: PluginsDependencies): Plugins {
  const mutex = new Mutex()
  const stopping = new AbortController()
  const checks = createPipelineChecks({ store, grants, createCatalogFor })

  const findSignature = (plugin: KnownPlugin) =>
    plugin.origin === 'uploaded'
      ? toVersionSignature(readClaim(plugin), plugin.name, trust.policy())
      : undefined
  const findPipelines = (plugin: KnownPlugin) =>
    findUsingPipelines(plugin, configuration.get().value.pipelines, store.elements)
  const isUsed = (plugin: KnownPlugin) => findPipelines(plugin).length > 0
  const readConditions = () => ({
    quarantined: quarantine.list(),
    findSignature,
    findMissing: grants.findMissing,
    findPipelines,
  })

  const list = () => toTagged(describePlugins(store.installed(), readConditions()))

  function get(name: string): WithEtag<Plugin> {
    const plugin = describePlugin(store.installed(), name, readConditions())
    if (!plugin) throw new EyrieError('id', `plugin ${name} does not exist`)
    return toTagged(plugin)
  }

  const switches = createVersionSwitches({
    store,
    configuration,
    grants,
    trust,
    startShadow: (plugin, pipelines) => runtime.startShadow(plugin, pipelines),
    history,
    health,
    checks,
    mutex,
    get,
    log,
  })

  /**
   * Adds a plugin to the store. Returns false if the version is already installed
   * with the same content.
   */
  async function install(
    plugin: KnownPlugin,
    claim: PackageClaim,
    { client, acceptsNewPublisher = false }: UploadOptions,
  ): Promise<boolean> {
    const installed = store.installed()
    const { name, version } = plugin
    const existing = listVersions(installed, name).find(candidate => candidate.version === version)
    if (existing && (await isIdentical(existing, plugin))) return false
    if (existing && !isDevelopmentVersion(version)) {
      throw new EyrieError(
        'conflict',
        `version ${version} of ${name} already exists with different content: upload it as another version, ` +
          `or as a development version such as ${version}-dev, which later uploads replace`,
      )
    }

    const policy = trust.policy()
    assertAccepted({ name, version, claim }, policy)
    const uploaded = listVersions(installed, name).filter(({ origin }) => origin === 'uploaded')
    await acceptPublisher(
      { name, version, claim },
      { uploaded, policy, grants, acceptsNewPublisher },
    )
    if (existing) return replace(existing, plugin)

    const isFirst = !findActiveVersion(installed, name)
    if (isFirst) assertNoElementCollision(installed, plugin)
    assertIsolated(sandboxes)
    await inspectElements(plugin, stopping.signal)
    if (!hasUploadedVersion(installed, name)) {
      // An earlier installation that failed may have left grants.
      await grants.withdraw(name)
      await grants.grant(plugin, client)
    }

    // The first version becomes active, which starts the channels that wait for its elements.
    // Others may be pinned.
    await configuration.runExclusive(async configured => {
      if (!isFirst) checks.assertFollowersAccept(configured, plugin)
      await store.add(plugin)
      return undefined
    })
    return true
  }

  /**
   * Replaces the files of a development version. Channels that use it restart with the new code.
   */
  async function replace(existing: KnownPlugin, plugin: KnownPlugin): Promise<true> {
    const { name, version, origin } = existing
    if (origin !== 'uploaded') {
      throw new EyrieError(
        'conflict',
        `version ${version} of ${name} was not uploaded: change its files in ${existing.folder}`,
      )
    }
    assertIsolated(sandboxes)
    await inspectElements(plugin, stopping.signal)

    const installed = store.installed()
    const plugins = installed.plugins.map(other => (other === existing ? plugin : other))
    if (isActiveVersion(installed, existing)) {
      assertNoElementCollision({ ...installed, plugins }, plugin)
    }
    await configuration.runExclusive(async configured => {
      checks.assertRemainValid(configured, { next: { ...installed, plugins }, version })
      await store.replace(existing, plugin)
      return undefined
    })
    quarantine.release(name, version)
    return true
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

  const remove: Plugins['remove'] = (name, version, ifMatch) =>
    mutex.runExclusive(async () => {
      assertIfMatch(ifMatch, get(name).etag)
      const plugin = getVersion(store.installed(), name, version)
      assertUploaded(plugin)

      await configuration.runExclusive(async ({ pipelines }) => {
        assertUnused(plugin, findUsingPipelines(plugin, pipelines, store.elements))
        assertSuccessorGranted(grants, store.installed(), plugin)
        await store.remove(plugin)
        quarantine.release(name, version)
        if (!hasUploadedVersion(store.installed(), name)) await grants.withdraw(name)
        return undefined
      })
    })

  const release: Plugins['release'] = (name, ifMatch) =>
    mutex.runExclusive(async () => {
      assertIfMatch(ifMatch, get(name).etag)
      for (const { channel } of quarantine.release(name)) runtime.retryChannel(channel)
      return get(name)
    })

  function alarms(): string[] {
    const hasUploads = store.installed().plugins.some(({ origin }) => origin === 'uploaded')
    const isolationProblem = hasUploads ? sandboxes.findIsolationProblem() : undefined
    return [
      ...(isolationProblem === undefined ? [] : [isolationProblem]),
      ...trust.alarms(),
      ...listRefusedVersions(store.installed(), trust.policy(), isUsed).map(({ reason }) => reason),
      ...quarantine.list().map(describeQuarantine),
      ...listGrantAlarms(grants, store.installed()),
      ...listReverts(history, store.installed()),
    ]
  }

  return {
    list,
    get,
    inspect,
    listGrants,
    upload,
    ...switches,
    remove,
    release,
    alarms,
    stop: () => {
      stopping.abort()
      switches.stop()
    },
  }
}

/**
 * Entity tags are keyed hashes, so that they do not reveal secrets. Plugins contain no secrets, so
 * the key can be public.
 */
const toTagged = <T>(value: T): WithEtag<T> => ({ value, etag: computeEtag('plugins', value) })
