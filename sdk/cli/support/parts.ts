import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Client, createClient } from '@eyrie/client'
import { scanModels, shippedModels } from '@eyrie/model-store'
import { type Access, secretIn } from '../engine/connect.ts'
import { pipelineHealth } from '../engine/health.ts'
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
  const media = {
    url: environment.EYRIE_MEDIA_URL || 'http://127.0.0.1:8200',
    token: environment.EYRIE_INTERNAL_TOKEN || secretIn(data, 'internal-token'),
  }
  const management = { url: environment.EYRIE_MANAGEMENT_URL || 'http://127.0.0.1:8080', token: undefined }
  const [log, older] = logFiles(data)
  return [
    ...engineParts(createClient(access)),
    ...Object.entries({ engine: access, media, management }).map(([name, service]) =>
      text(`health/${name}.json`, () => ask(service, '/health')),
    ),
    text('metrics/engine.txt', () => ask(access, '/metrics', true)),
    text('metrics/media.txt', () => ask(media, '/metrics', true)),
    text('log/eyrie.log', () => readFile(log, 'utf8')),
    ...(older ? [text('log/eyrie.log.1', () => readFile(older, 'utf8'))] : []),
    text('eyrie.json', () => readFile(join(data, 'eyrie.json'), 'utf8')),
    json('machine.json', () => machineFacts(data)),
    json('models.json', () => modelCards(data)),
    ...(await pluginManifests(environment.EYRIE_PLUGINS)),
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
  })
  if (mustSucceed && !response.ok) throw new Error(`${url + path} answered ${response.status}`)
  return response.text()
}

async function modelCards(data: string) {
  const { models, broken } = await scanModels([join(data, 'models'), shippedModels])
  return { models: [...models.values()].map(({ card }) => card), broken }
}

const shippedPlugins = resolve(import.meta.dirname, '../../../plugins')

async function pluginManifests(folders = shippedPlugins): Promise<Part[]> {
  const found = await Promise.all(
    folders.split(':').map(async folder => {
      const names = await readdir(folder).catch(() => [])
      return names.map(name => ({ name, file: join(folder, name, 'plugin.json') }))
    }),
  )
  return found
    .flat()
    .filter(({ file }) => existsSync(file))
    .map(({ name, file }) => text(`plugins/${name}.json`, () => readFile(file, 'utf8')))
}
