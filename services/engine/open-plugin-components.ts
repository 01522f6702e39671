import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pipeline } from '@eyrie/contract/pipeline'
import type { Settings } from '@eyrie/contract/settings'
import { createEgress, type Environment, type Log } from '@eyrie/kit'
import type { KnownPlugin } from './plugin-host/known-plugin.ts'
import { serveInspector } from './plugin-host/sandbox/inspector/inspector-server.ts'
import {
  openPluginQuarantine,
  type PluginQuarantine,
} from './plugin-host/sandbox/plugin-quarantine.ts'
import { createSandboxes, type Sandboxes } from './plugin-host/sandbox/sandboxes.ts'
import { alignGrants } from './plugins/active-grants.ts'
import { openPluginGrants, type PluginGrants } from './plugins/grants/plugin-grants.ts'
import { findVersion } from './plugins/installed-plugins.ts'
import { createPluginStore, listPluginFolders, type PluginStore } from './plugins/plugin-store.ts'
import { findUsingPipelines } from './plugins/plugin-usage.ts'
import { listRefusedVersions } from './plugins/refused-versions.ts'
import { assertMayRun } from './plugins/trust/package-acceptance.ts'
import { readClaim } from './plugins/trust/package-claim.ts'
import { createPluginTrust, type PluginTrust } from './plugins/trust/plugin-trust.ts'
import { identifyPublisher } from './plugins/trust/signature-policy.ts'

export interface PluginComponentsOptions {
  environment: Environment
  settings: Settings['engine']
  /** Data folder of the engine. */
  folder: string
  /** Folder of uploaded plugins and of what is stored about them. */
  pluginFolder: string
  listPipelines(): readonly Pipeline[]
  /** Opens the failed elements of all channels, without waiting for their next attempt. */
  retryChannels(): void
  /** Registers how a component is stopped. */
  onStop(stop: () => unknown): void
  log: Log
}

/** The components that host plugins. */
export interface PluginComponents {
  /** The installed packages. */
  pluginStore: PluginStore
  /** The trust, the grants and the quarantine decide whether the code of a package may run. */
  pluginTrust: PluginTrust
  grants: PluginGrants
  quarantine: PluginQuarantine
  /** Run the code of uploaded packages. */
  sandboxes: Sandboxes
  /** Deletes the files that the elements of a plugin have stored. */
  deleteFiles(plugin: string): Promise<void>
}

/**
 * Opens the components. Calls neither `listPipelines` nor `retryChannels` itself, because both may
 * need components that are created later.
 */
export async function openPluginComponents(
  options: PluginComponentsOptions,
): Promise<PluginComponents> {
  const { environment, settings, folder, pluginFolder, listPipelines, retryChannels, log } = options
  const pluginStore = createPluginStore({
    folder: pluginFolder,
    otherFolders: listPluginFolders(environment.plugins),
    log,
  })
  const isUsed = (plugin: KnownPlugin) =>
    findUsingPipelines(plugin, listPipelines(), pluginStore.elements).length > 0
  const pluginTrust = createPluginTrust({
    file: join(pluginFolder, 'trust.json'),
    requiresSignatures: settings.require_signed_plugins,
    listRefused: policy => listRefusedVersions(pluginStore.installed(), policy, isUsed),
    onChange: retryChannels,
    log,
  })

  const quarantine = openPluginQuarantine({ file: join(pluginFolder, 'quarantine.json'), log })
  const grants = openPluginGrants({
    file: join(pluginFolder, 'grants.json'),
    identifyPublisher: plugin =>
      identifyPublisher(readClaim(plugin), pluginTrust.policy().publishers),
    log,
  })
  await alignGrants(grants, pluginStore.installed())
  const storageFolder = join(folder, 'plugin-storage')
  const sandboxes = await createSandboxes({
    quarantine,
    allowsPartialIsolation: settings.allow_partial_plugin_isolation,
    folder: pluginFolder,
    codeFolder: join(folder, 'compiled-plugin-code'),
    storageFolder,
    egress: createEgress('plugin', environment),
    inspector: await startInspector(options),
    verifyPackage: async (name, version) => {
      const plugin = findVersion(pluginStore.installed(), name, version)
      if (plugin) grants.assertGranted(plugin)
      await pluginStore.verifyPackage(name, version)
    },
    assertTrusted: (name, version) =>
      assertMayRun(
        { name, version, claim: pluginStore.readClaim(name, version) },
        pluginTrust.policy(),
      ),
    log,
  })
  const deleteFiles = (plugin: string) =>
    rm(join(storageFolder, plugin), { recursive: true, force: true })
  return { pluginStore, pluginTrust, quarantine, grants, sandboxes, deleteFiles }
}

/** Lets debuggers connect to a plugin under development, if the environment says so. */
async function startInspector({ environment: { inspect }, log, onStop }: PluginComponentsOptions) {
  if (!inspect) return undefined
  const { plugin, port } = inspect
  const server = await serveInspector(plugin, port)
  onStop(server.close)
  log.warn({ plugin, port }, 'debuggers on this machine can connect to a plugin')
  return { plugin, server }
}
