import { type Client, createClient } from '@eyrie/client'
import type { Channel, OutputMessage, Plugin } from '@eyrie/contract'
import { type LogRecord, SEVERITIES } from '@eyrie/contract/log-record'
import type { Manifest } from '@eyrie/contract/plugin'
import { styled, type Terminal } from '../command/terminal.ts'
import type { ServiceAccess } from '../engine/engine-access.ts'
import { printRequested } from '../plugin/plugin-grant-report.ts'
import { type DevelopmentPage, type OpenLiveView, serveDevelopmentPage } from './dev-page.ts'
import { type PipelineRequest, preparePipeline } from './dev-pipeline.ts'
import { uploadFolder } from './dev-upload.ts'
import { followElementLog } from './element-log.ts'
import { findExcerpt } from './source-excerpt.ts'
import { watchFolder } from './watch-folder.ts'

export interface DevelopmentOptions {
  /** The engine, with a token that may change plugins. */
  access: ServiceAccess
  folder: string
  manifest: Manifest
  pipeline: PipelineRequest
  /** Port of the page; 0 selects a free one. */
  port: number
  terminal: Terminal
  ended: AbortSignal
}

/**
 * Runs a plugin until the signal: uploads it after each change, and reports what it does to the terminal and to the page. Restores
 * the version that was active before, and deletes what it has created.
 */
export async function runDevelopment(options: DevelopmentOptions): Promise<void> {
  const { access, folder, manifest, port, terminal } = options
  const engine = createClient(access)
  const { name, version } = manifest
  const before = await findActiveVersion(engine, name)
  printRequested('granted', await uploadFolder(engine, folder), terminal.out)
  const pipeline = await preparePipeline(engine, options.pipeline)
  const { channel } = pipeline
  let page: DevelopmentPage | undefined
  try {
    page = await serveDevelopmentPage(port, createOpenLiveView(engine, access, channel))
    page.send({ kind: 'plugin', title: `${name} ${version}`, hasVideo: channel.stream !== null })
    terminal.out.write(
      `${styled(terminal.out, 'green', 'running')} ${name} ${version} on source ${channel.source}\n`,
    )
    terminal.out.write(`page: ${page.url}\n`)
    await report(options, engine, channel, page)
  } finally {
    await page?.close()
    await pipeline.remove()
    if (before !== undefined && before !== version) await engine.plugin.use(name, { version: before })
  }
}

async function findActiveVersion(engine: Client, name: string): Promise<string | undefined> {
  const plugins: readonly Plugin[] = await engine.plugin.list()
  return plugins.find(plugin => plugin.name === name)?.active
}

/** Each connection needs a ticket of its own. */
function createOpenLiveView(
  engine: Client,
  { url }: ServiceAccess,
  { stream }: Channel,
): OpenLiveView | undefined {
  if (!stream) return undefined
  const scheme = url.startsWith('https:') ? 'wss' : 'ws'
  return async () => {
    const { ticket, stream: target } = await engine.streamTicket(stream.id)
    const query = new URLSearchParams({ codecs: 'h264', ticket })
    return `${scheme}://${target.hostname}:${target.port}/streams/${target.id}/ws?${query}`
  }
}

/** Reports until the signal. */
async function report(
  options: DevelopmentOptions,
  engine: Client,
  channel: Channel,
  page: DevelopmentPage,
): Promise<void> {
  const { access, folder, manifest, terminal, ended } = options
  const { out } = terminal
  const send = (kind: string, fields: object) => page.send({ kind, time: Date.now(), ...fields })

  watchFolder(folder, () => reload(options, engine, send), ended)
  const onEntry = ({ level, msg, time, err, ...fields }: LogRecord) => {
    const text = [msg, err?.message, formatFields(fields)].filter(Boolean).join(' ')
    const severity = level >= SEVERITIES.error ? 'error' : level >= SEVERITIES.warn ? 'warn' : 'log'
    out.write(`${severity.padEnd(KIND_WIDTH)} ${text}\n`)
    page.send({ kind: 'log', time, level: severity, text })
  }
  if (!(await followElementLog(terminal.data, manifest.name, onEntry, ended)))
    terminal.err.write(`there is no log in ${terminal.data}: run eyrie logs on the machine of the engine\n`)

  const { status, reason } = await engine.pipelineStatistics(channel.pipeline)
  send('state', { data: { state: status, ...(reason !== undefined && { reason }) } })
  // The requests at the end need a client that has no signal.
  const follower = createClient({ ...access, signal: ended })
  const output = follower.output({
    channels: [channel.id],
    kinds: ['frame', 'event', 'count', 'state', 'stats'],
  })
  for await (const message of output) {
    if (message.kind === 'hello' || message.kind === 'gap') continue
    await reportMessage(message, options, page)
  }
}

const KIND_WIDTH = 'reload'.length

async function reportMessage(
  message: OutputMessage,
  { folder, terminal: { out } }: DevelopmentOptions,
  page: DevelopmentPage,
): Promise<void> {
  if (message.kind === 'event') {
    const { type, ...fields } = message.data
    out.write(`${styled(out, 'green', 'event'.padEnd(KIND_WIDTH))} ${type} ${formatFields(fields)}\n`)
  }
  if (message.kind !== 'state') return page.send(message)

  const { state, reason } = message.data
  const text = reason === undefined ? state : `${state}: ${reason}`
  out.write(`${styled(out, reason === undefined ? 'yellow' : 'red', 'state'.padEnd(KIND_WIDTH))} ${text}\n`)
  const excerpt = reason === undefined ? undefined : await findExcerpt(folder, reason)
  page.send({ ...message, ...(excerpt && { excerpt }) })
}

/** Uploads the folder. An error of the author does not end the command. */
async function reload(
  { folder, terminal: { out } }: DevelopmentOptions,
  engine: Client,
  send: (kind: string, fields: object) => void,
): Promise<void> {
  const start = performance.now()
  try {
    const granted = await uploadFolder(engine, folder)
    const ms = Math.round(performance.now() - start)
    printRequested('granted', granted, out)
    out.write(`${styled(out, 'green', 'reload')} in ${ms} ms\n`)
    send('reload', { ms })
  } catch (error) {
    const problem = (error as Error).message
    out.write(`${styled(out, 'red', 'reload')} failed: ${problem}\n`)
    const excerpt = await findExcerpt(folder, problem)
    send('reload', { problem, ...(excerpt && { excerpt }) })
  }
}

/** Fields of log records that say where they come from, which is known. */
const ORIGIN_FIELDS = new Set(['plugin', 'element', 'service', 'pid', 'hostname', 'channel'])

const formatFields = (fields: object): string =>
  Object.entries(fields)
    .filter(([key]) => !ORIGIN_FIELDS.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
