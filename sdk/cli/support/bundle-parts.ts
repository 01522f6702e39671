import { existsSync } from 'node:fs'
import { readdir, readFile, statfs } from 'node:fs/promises'
import { arch, cpus, freemem, loadavg, release, totalmem, uptime } from 'node:os'
import { join, resolve } from 'node:path'
import { createClient } from '@eyrie/client'
import { parsePathList } from '@eyrie/contract/path-list'
import { SHIPPED_MODELS, scanModels } from '@eyrie/model-store'
import type { Terminal } from '../command/terminal.ts'
import { getServiceUrl, type ServiceAccess } from '../engine/engine-access.ts'
import { readPipelineHealth } from '../engine/pipeline-health.ts'
import { readSecret } from '../engine/secret-files.ts'
import { getLogFiles } from '../logs/log-files.ts'

/**
 * The contents of a support bundle, the archive that a user attaches to a bug report: responses of
 * the services, logs, plugin manifests and a description of the machine.
 */

const REQUEST_TIMEOUT_MS = 5_000

const SHIPPED_PLUGINS = resolve(import.meta.dirname, '../../../plugins')

/** A file of a support bundle, before redaction. `read` rejects if the content is unavailable. */
export interface BundlePart {
  name: string
  read(): Promise<string>
}

/** Lists the parts of a bundle. Nothing but folders is read until `read` of a part is called. */
export async function listBundleParts(
  engine: ServiceAccess,
  terminal: Terminal,
): Promise<BundlePart[]> {
  const media = getServiceUrl('media', terminal)
  const management = getServiceUrl('management', terminal)
  const scheduler = getServiceUrl('scheduler', terminal)
  return [
    ...listEngineParts(engine),
    createTextPart('health/engine.json', () => fetchHealth(engine.url)),
    createTextPart('health/media.json', () => fetchHealth(media)),
    createTextPart('health/management.json', () => fetchHealth(management)),
    createTextPart('health/scheduler.json', () => fetchHealth(scheduler)),
    createTextPart('metrics/engine.txt', () => fetchMetrics(engine)),
    createTextPart('metrics/media.txt', () =>
      fetchMetrics({ url: media, token: readInternalToken(terminal) }),
    ),
    createTextPart('metrics/scheduler.txt', () =>
      fetchMetrics({ url: scheduler, token: undefined }),
    ),
    createJsonPart('machine.json', () => describeMachine(terminal.data)),
    createJsonPart('models.json', () => readModelCards(terminal.data)),
    ...(await listFileParts(terminal)),
  ]
}

const createTextPart = (name: string, read: BundlePart['read']): BundlePart => ({ name, read })

const createJsonPart = (name: string, read: () => Promise<unknown>): BundlePart => ({
  name,
  read: async () => JSON.stringify(await read(), null, 2),
})

function listEngineParts(engine: ServiceAccess): BundlePart[] {
  const client = createClient(engine)
  return [
    createJsonPart('engine/about.json', () => client.about()),
    createJsonPart('engine/activation.json', () => client.getActivation()),
    createJsonPart('engine/configuration.json', () => client.getConfiguration()),
    createJsonPart('engine/catalog.json', () => client.getCatalog()),
    createJsonPart('engine/exports.json', () => client.getExports()),
    createJsonPart('engine/consumers.json', () => client.consumer.list()),
    createJsonPart('engine/plugins.json', () => client.plugin.list()),
    createJsonPart('engine/statistics.json', () => client.systemStatistics()),
    createJsonPart('engine/pipelines.json', async () => {
      const health = await readPipelineHealth(client, await client.pipeline.list())
      return Object.fromEntries(health)
    }),
  ]
}

/** Accepts every status: an unhealthy service answers with 503 and the reason in the body. */
async function fetchHealth(url: string): Promise<string> {
  const response = await fetchFrom({ url, token: undefined }, '/health')
  return response.text()
}

async function fetchMetrics(service: ServiceAccess): Promise<string> {
  const response = await fetchFrom(service, '/metrics')
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}`)
  return response.text()
}

async function fetchFrom({ url, token }: ServiceAccess, path: string): Promise<Response> {
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  return fetch(url + path, { headers, signal }).catch(cause => {
    throw new Error(`${url} cannot be reached`, { cause })
  })
}

const readInternalToken = ({ data, environment = {} }: Terminal): string | undefined =>
  environment.EYRIE_INTERNAL_TOKEN || readSecret(data, 'internal-token')

/** Lists the log files and plugin manifests that exist. */
async function listFileParts({ data, environment = {} }: Terminal): Promise<BundlePart[]> {
  const [currentLog, ...rotatedLogs] = getLogFiles(data)
  const pluginFolders = environment.EYRIE_PLUGINS
    ? parsePathList(environment.EYRIE_PLUGINS)
    : [SHIPPED_PLUGINS]
  const files = [
    { name: 'log/eyrie.log', path: currentLog },
    { name: 'log/eyrie.log.1', path: rotatedLogs[0]! },
    ...(await findPluginManifests(pluginFolders)),
  ]
  return files
    .filter(({ path }) => existsSync(path))
    .map(({ name, path }) => createTextPart(name, () => readFile(path, 'utf8')))
}

/** Returns the path of each plugin manifest in the folders, and its name in the bundle. */
async function findPluginManifests(
  folders: readonly string[],
): Promise<{ name: string; path: string }[]> {
  const manifests = new Map<string, string>()
  for (const folder of folders) {
    const plugins = await readdir(folder).catch(() => [])
    for (const plugin of plugins) {
      manifests.set(`plugins/${plugin}.json`, join(folder, plugin, 'plugin.json'))
    }
  }
  return [...manifests].map(([name, path]) => ({ name, path }))
}

/** Describes the machine and its free resources. Sizes are in bytes, times in seconds. */
async function describeMachine(data: string) {
  const processors = cpus()
  return {
    system: await readSystemName(),
    kernel: release(),
    arch: arch(),
    node: process.version,
    cpu: { model: processors[0]?.model ?? 'unknown', count: processors.length, load: loadavg() },
    memory: { total: totalmem(), free: freemem() },
    space: { [data]: await measureSpace(data), '/dev/shm': await measureSpace('/dev/shm') },
    graphics: await readdir('/dev/dri').catch(() => []),
    uptime: uptime(),
  }
}

/** Returns the name of the Linux distribution, or undefined if it is unknown. See os-release(5). */
async function readSystemName(): Promise<string | undefined> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '')
  return /^PRETTY_NAME="?([^"\n]*)/m.exec(text)?.[1]
}

/**
 * Returns the size and the free space of a file system in bytes, or undefined if the
 * folder does not exist.
 */
async function measureSpace(folder: string) {
  try {
    const { bsize, blocks, bavail } = await statfs(folder)
    return { total: bsize * blocks, free: bsize * bavail }
  } catch {
    return undefined
  }
}

/** Reads the description of each model, and the folders that contain no valid model. */
async function readModelCards(data: string) {
  const { models, broken } = await scanModels([join(data, 'models'), SHIPPED_MODELS])
  return { models: [...models.values()].map(({ card }) => card), broken }
}
