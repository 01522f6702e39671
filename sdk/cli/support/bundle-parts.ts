import { existsSync } from 'node:fs'
import { readdir, readFile, statfs } from 'node:fs/promises'
import { arch, cpus, freemem, loadavg, release, totalmem, uptime } from 'node:os'
import { join, resolve } from 'node:path'
import { type Client, createClient } from '@eyrie/client'
import { parsePathList } from '@eyrie/contract/path-list'
import { scanModels, shippedModels } from '@eyrie/model-store'
import type { Terminal } from '../command/terminal.ts'
import { getServiceAccess, type ServiceAccess } from '../engine/engine-access.ts'
import { readPipelineHealth } from '../engine/pipeline-health.ts'
import { getLogFiles } from '../logs/log-format.ts'

const REQUEST_TIMEOUT_MS = 5_000

/** A file of the bundle. `read` rejects if its content is unavailable. */
export interface BundlePart {
  name: string
  read(): Promise<string>
}

/** Lists everything that a bug report needs. The content is not redacted yet. */
export async function listBundleParts(engine: ServiceAccess, terminal: Terminal): Promise<BundlePart[]> {
  const { data, environment = {} } = terminal
  const plugins = environment.EYRIE_PLUGINS
  const { media, management } = getServiceAccess(terminal)
  const [log, rotatedLog = log] = getLogFiles(data)
  const files = {
    'log/eyrie.log': log,
    'log/eyrie.log.1': rotatedLog,
    'eyrie.json': join(data, 'eyrie.json'),
    ...(await findPluginManifests(plugins ? parsePathList(plugins) : [shippedPlugins])),
  }
  return [
    ...listEngineParts(createClient(engine)),
    ...Object.entries({ engine, media, management }).map(([name, service]) =>
      textPart(`health/${name}.json`, () => fetchText(service, '/health', 'any status')),
    ),
    textPart('metrics/engine.txt', () => fetchText(engine, '/metrics')),
    textPart('metrics/media.txt', () => fetchText(media, '/metrics')),
    jsonPart('machine.json', () => describeMachine(data)),
    jsonPart('models.json', () => readModelCards(data)),
    ...Object.entries(files)
      .filter(([, file]) => existsSync(file))
      .map(([name, file]) => textPart(name, () => readFile(file, 'utf8'))),
  ]
}

const textPart = (name: string, read: BundlePart['read']): BundlePart => ({ name, read })
const jsonPart = (name: string, read: () => Promise<unknown>): BundlePart => ({
  name,
  read: async () => JSON.stringify(await read(), null, 2),
})

const listEngineParts = (client: Client): BundlePart[] => [
  jsonPart('engine/about.json', () => client.about()),
  jsonPart('engine/activation.json', () => client.getActivation()),
  jsonPart('engine/configuration.json', () => client.getConfiguration()),
  jsonPart('engine/catalog.json', () => client.getCatalog()),
  jsonPart('engine/exports.json', () => client.getExports()),
  jsonPart('engine/consumers.json', () => client.consumer.list()),
  jsonPart('engine/plugins.json', () => client.plugin.list()),
  jsonPart('engine/statistics.json', () => client.systemStatistics()),
  jsonPart('engine/pipelines.json', async () => {
    const pipelines = await client.pipeline.list()
    const health = await readPipelineHealth(
      client,
      pipelines.map(({ id }) => id),
    )
    return Object.fromEntries(health)
  }),
]

/** `any status`: an unhealthy service answers `/health` with 503 and the reason in the body. */
async function fetchText(
  { url, token }: ServiceAccess,
  path: string,
  accept?: 'any status',
): Promise<string> {
  const response = await fetch(url + path, {
    headers: token ? { authorization: `Bearer ${token}` } : {},
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  }).catch(cause => {
    throw new Error(`${url} cannot be reached`, { cause })
  })
  if (!response.ok && accept !== 'any status') throw new Error(`${url + path} answered ${response.status}`)
  return response.text()
}

/** Describes the machine and its free resources. Sizes are in bytes, times in seconds. */
async function describeMachine(data: string) {
  const [{ model = 'unknown' } = {}] = cpus()
  return {
    system: /^PRETTY_NAME="?([^"\n]*)/m.exec(await readFile('/etc/os-release', 'utf8').catch(() => ''))?.[1],
    kernel: release(),
    arch: arch(),
    node: process.version,
    cpu: { model, count: cpus().length, load: loadavg() },
    memory: { total: totalmem(), free: freemem() },
    space: { [data]: await measureSpace(data), '/dev/shm': await measureSpace('/dev/shm') },
    graphics: await readdir('/dev/dri').catch(() => []),
    uptime: uptime(),
  }
}

async function measureSpace(folder: string) {
  try {
    const { bsize, blocks, bavail } = await statfs(folder)
    return { total: bsize * blocks, free: bsize * bavail }
  } catch {
    return undefined
  }
}

async function readModelCards(data: string) {
  const { models, broken } = await scanModels([join(data, 'models'), shippedModels])
  return { models: [...models.values()].map(({ card }) => card), broken }
}

const shippedPlugins = resolve(import.meta.dirname, '../../../plugins')

/** Paths of the plugin manifests in these folders, by file name in the bundle. */
async function findPluginManifests(folders: readonly string[]): Promise<Record<string, string>> {
  const entries = await Promise.all(
    folders.map(async folder => {
      const names = await readdir(folder).catch(() => [])
      return names.map(name => [`plugins/${name}.json`, join(folder, name, 'plugin.json')])
    }),
  )
  return Object.fromEntries(entries.flat())
}
