import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Client, createClient } from '@eyrie/client'
import { parsePathList } from '@eyrie/contract/path-list'
import { scanModels, shippedModels } from '@eyrie/model-store'
import type { Access } from '../engine/connect.ts'
import { pipelineHealth } from '../engine/health.ts'
import { servicesBeside } from '../engine/services.ts'
import { logFiles } from '../logs/files.ts'
import type { Terminal } from '../terminal.ts'
import { machineFacts } from './machine.ts'

const TIMEOUT_MS = 5_000

/** One file of the bundle; `read` rejects where it cannot be had. */
export interface Part {
  name: string
  read(): Promise<string>
}

/** All that a bug report needs. Secrets are still in it. */
export async function bundleParts(access: Access, terminal: Terminal): Promise<Part[]> {
  const { data, environment = {} } = terminal
  const plugins = environment.EYRIE_PLUGINS
  const { media, management } = servicesBeside(terminal)
  const [log, older = log] = logFiles(data)
  const files = {
    'log/eyrie.log': log,
    'log/eyrie.log.1': older,
    'eyrie.json': join(data, 'eyrie.json'),
    ...(await pluginManifests(plugins ? parsePathList(plugins) : [shippedPlugins])),
  }
  return [
    ...engineParts(createClient(access)),
    ...Object.entries({ engine: access, media, management }).map(([name, service]) =>
      text(`health/${name}.json`, () => ask(service, '/health')),
    ),
    text('metrics/engine.txt', () => ask(access, '/metrics', true)),
    text('metrics/media.txt', () => ask(media, '/metrics', true)),
    json('machine.json', () => machineFacts(data)),
    json('models.json', () => modelCards(data)),
    ...Object.entries(files)
      .filter(([, file]) => existsSync(file))
      .map(([name, file]) => text(name, () => readFile(file, 'utf8'))),
  ]
}

const text = (name: string, read: Part['read']): Part => ({ name, read })
const json = (name: string, read: () => Promise<unknown>): Part => ({
  name,
  read: async () => JSON.stringify(await read(), null, 2),
})

const engineParts = (client: Client): Part[] => [
  json('engine/about.json', () => client.about()),
  json('engine/activation.json', () => client.getActivation()),
  json('engine/configuration.json', () => client.getConfiguration()),
  json('engine/catalog.json', () => client.getCatalog()),
  json('engine/exports.json', () => client.getExports()),
  json('engine/consumers.json', () => client.consumer.list()),
  json('engine/plugins.json', () => client.plugin.list()),
  json('engine/statistics.json', () => client.systemStatistics()),
  json('engine/pipelines.json', async () => {
    const pipelines = await client.pipeline.list()
    const health = await pipelineHealth(
      client,
      pipelines.map(({ id }) => id),
    )
    return Object.fromEntries(health)
  }),
]

/** A service that is ill says so with a status that is none of success. */
async function ask({ url, token }: Access, path: string, mustSucceed = false): Promise<string> {
  const response = await fetch(url + path, {
    headers: token ? { authorization: `Bearer ${token}` } : {},
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(cause => {
    throw new Error(`${url} cannot be reached`, { cause })
  })
  if (mustSucceed && !response.ok) throw new Error(`${url + path} answered ${response.status}`)
  return response.text()
}

async function modelCards(data: string) {
  const { models, broken } = await scanModels([join(data, 'models'), shippedModels])
  return { models: [...models.values()].map(({ card }) => card), broken }
}

const shippedPlugins = resolve(import.meta.dirname, '../../../plugins')

/** Where plugins in these folders have their manifests, by their names in the bundle. */
async function pluginManifests(folders: readonly string[]): Promise<Record<string, string>> {
  const found = await Promise.all(
    folders.map(async folder => {
      const names = await readdir(folder).catch(() => [])
      return names.map(name => [`plugins/${name}.json`, join(folder, name, 'plugin.json')])
    }),
  )
  return Object.fromEntries(found.flat())
}
