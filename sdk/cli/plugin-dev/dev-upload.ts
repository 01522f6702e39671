import { type Client, getEtag } from '@eyrie/client'
import { isDevelopmentVersion, type Plugin, type RequestedCapability } from '@eyrie/contract'
import type { Manifest } from '@eyrie/contract/plugin'
import { packPlugin } from '../plugin/plugin-archive.ts'
import { readPluginFolder } from '../plugin/plugin-files.ts'
import { generateSchemas } from '../plugin-project/author-process.ts'

/** Uploads a plugin again and again while its author changes it. */

/** Reads the manifest. Throws an `Error` if its version is not one that uploads may replace. */
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
 * Uploads the folder, makes its version active, and grants what it asks for, which is returned. The schemas are generated
 * meanwhile: if the manifest changes, so does the folder, and the caller uploads it again.
 */
export async function uploadFolder(engine: Client, folder: string): Promise<readonly RequestedCapability[]> {
  const { manifest, archive } = await packPlugin(folder)
  assertDevelopmentVersion(folder, manifest)
  const generating = generateSchemas(folder)
  generating.catch(() => {})
  const { version } = manifest
  const plugin = await engine.plugin.upload(archive)
  const requested = plugin.versions.find(other => other.version === version)?.not_granted ?? []
  await activate(engine, plugin, version, requested.length > 0)
  await generating
  return requested
}

async function activate(
  engine: Client,
  plugin: Plugin,
  version: string,
  isMoreRequested: boolean,
): Promise<void> {
  const { name, active } = plugin
  if (isMoreRequested) await engine.plugin.use(name, { version, grant: true }, { ifMatch: getEtag(plugin) })
  else if (active !== version) await engine.plugin.use(name, { version })
}
