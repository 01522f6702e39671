import { type Client, getEtag } from '@eyrie/client'
import { isDevelopmentVersion, type Plugin, type RequestedCapability } from '@eyrie/contract'
import type { Manifest } from '@eyrie/contract/plugin'
import { packPlugin } from '../plugin/plugin-archive.ts'
import { readPluginFolder } from '../plugin/plugin-files.ts'
import { generateSchemas } from '../plugin-project/author-process.ts'

/**
 * Uploads a plugin again and again while its author changes it. Only development versions can be
 * replaced in this way.
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

  const { version } = manifest
  const plugin = await engine.plugin.upload(archive)
  const requested = plugin.versions.find(other => other.version === version)?.not_granted ?? []
  await activate(engine, plugin, version, requested.length > 0)
  await generated
  return requested
}

async function activate(
  engine: Client,
  plugin: Plugin,
  version: string,
  needsGrant: boolean,
): Promise<void> {
  const { name, active } = plugin
  // The grant applies to what the engine has just listed. It rejects the request if the
  // plugin has changed since.
  if (needsGrant) {
    await engine.plugin.use(name, { version, grant: true }, { ifMatch: getEtag(plugin) })
  } else if (active !== version) {
    await engine.plugin.use(name, { version })
  }
}
