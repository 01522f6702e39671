import { type Client, getEtag } from '@eyrie/client'
import { isDevelopmentVersion, type Plugin, type RequestedCapability } from '@eyrie/contract'
import type { Manifest } from '@eyrie/contract/plugin'
import { packPlugin } from '../plugin/plugin-archive.ts'
import { readPluginFolder } from '../plugin/plugin-files.ts'
import { generateSchemas } from '../plugin-project/author-process.ts'

/**
 * Uploads a plugin after each change that its author makes. Only development versions, such as
 * `1.0.0-dev`, can be uploaded again with other content.
 */

/**
 * Generates the schemas of a plugin and reads its manifest. Throws an `Error` unless it is a
 * development version.
 */
export async function readDevelopmentManifest(folder: string): Promise<Manifest> {
  await generateSchemas(folder)
  const { manifest } = await readPluginFolder(folder)
  assertDevelopmentVersion(folder, manifest)
  return manifest
}

function assertDevelopmentVersion(folder: string, { version }: Manifest): void {
  if (isDevelopmentVersion(version)) return
  throw new Error(
    `${folder}/plugin.json: version ${version} cannot be replaced once it is uploaded: while you develop, set "version": "${version}-dev"`,
  )
}

/**
 * Uploads the folder, activates its version, and grants the capabilities that it asks for. Returns
 * the capabilities that were not granted before.
 */
export async function uploadFolder(
  engine: Client,
  folder: string,
): Promise<readonly RequestedCapability[]> {
  const { manifest, archive } = await packPlugin(folder)
  assertDevelopmentVersion(folder, manifest)

  // The schemas are generated during the upload, to save time. If that changes the manifest, the
  // caller uploads the folder again.
  const generated = generateSchemas(folder)
  // A failure is reported below. Without this handler, it would end the command if
  // the upload fails too.
  generated.catch(() => {})

  const plugin = await engine.plugin.upload(archive)
  const requested = await activate(engine, plugin, manifest.version)
  await generated
  return requested
}

/**
 * Activates a version of a plugin, and grants what it asks for. Returns the capabilities that were
 * not granted before.
 */
async function activate(
  engine: Client,
  plugin: Plugin,
  version: string,
): Promise<readonly RequestedCapability[]> {
  const { name, active, versions } = plugin
  const requested = versions.find(other => other.version === version)?.not_granted ?? []
  if (requested.length > 0) {
    // The grant applies to the capabilities in `plugin`. With its ETag, the engine rejects the
    // request if the plugin has changed since.
    await engine.plugin.use(name, { version, grant: true }, { ifMatch: getEtag(plugin) })
  } else if (active !== version) {
    await engine.plugin.use(name, { version })
  }
  return requested
}
