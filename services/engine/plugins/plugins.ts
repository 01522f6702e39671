import { EyrieError, type Plugin, type PluginGrant, type PluginInspection } from '@eyrie/contract'
import { assertIfMatch } from '@eyrie/kit/if-match'
import type { Log } from '@eyrie/kit/log'
import { Mutex } from 'async-mutex'
import type { Catalog } from '../catalog/catalog.ts'
import type { Configuration } from '../configuration/configuration.ts'
import { computeEtag, type WithEtag } from '../configuration/etag.ts'
import type { KnownElements } from '../plugin-host/known-elements.ts'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { StartShadow } from '../plugin-host/running-shadow.ts'
import type { PluginQuarantine } from '../plugin-host/sandbox/plugin-quarantine.ts'
import type { Sandboxes } from '../plugin-host/sandbox/sandboxes.ts'
import type { VersionHealth } from '../upgrade/version-health.ts'
import { assertSuccessorGranted, listGrantAlarms } from './active-grants.ts'
import type { PluginGrants } from './grants/plugin-grants.ts'
import { createInstaller, type InstallOptions } from './install-plugin.ts'
import {
  describePackage,
  describePlugin,
  describePlugins,
  hasUploadedVersion,
  listVersions,
} from './installed-plugins.ts'
import { createPipelineChecks } from './pipeline-checks.ts'
import { assertUnused, assertUploaded, describeQuarantine, getVersion } from './plugin-checks.ts'
import type { PluginStore } from './plugin-store.ts'
import { findUsingPipelines } from './plugin-usage.ts'
import { readUploadedPlugin } from './read-uploaded-plugin.ts'
import { listRefusedVersions } from './refused-versions.ts'
import { listReverts } from './revert-alarms.ts'
import { assertUnchanged } from './trust/package-acceptance.ts'
import { readClaim } from './trust/package-claim.ts'
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
  /** Deletes the files that the elements of a plugin have stored. */
  deleteFiles(plugin: string): Promise<void>
  trust: Pick<PluginTrust, 'policy' | 'alarms'>
  sandboxes: Pick<Sandboxes, 'findIsolationProblem' | 'findSdkCode' | 'isolation'>
  runtime: { retryChannel(channel: number): void; startShadow: StartShadow }
  history: SwitchHistory
  health: Pick<VersionHealth, 'summarize'>
  limits: UnpackLimits
  log: Log
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
    options: InstallOptions & { ifMatch?: string | undefined },
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
  deleteFiles,
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

  const install = createInstaller({
    store,
    configuration,
    quarantine,
    grants,
    trust,
    sandboxes,
    checks,
    signal: stopping.signal,
  })
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

  /** Unpacks a package into `draft`. Throws `EyrieError` if it is invalid or was changed. */
  async function readPackage(archive: Uint8Array, draft: string) {
    const folder = await unpackPackage(archive, draft, limits)
    const claim = await assertUnchanged(folder)
    return { plugin: await readUploadedPlugin(folder), claim }
  }

  const inspect: Plugins['inspect'] = archive =>
    mutex.runExclusive(() =>
      store.withDraftFolder(async draft => {
        const { plugin, claim } = await readPackage(archive, draft)
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
        const { plugin, claim } = await readPackage(archive, draft)
        const result = await install(plugin, claim, options)
        return { ...get(plugin.name), unchanged: result === 'unchanged' }
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
        // First, so that an interrupted removal leaves no files. Another publisher may upload
        // another plugin of this name, which must not read them.
        if (listVersions(store.installed(), name).length === 1) await deleteFiles(name)
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
