import { type Client, createClient } from '@eyrie/client'
import type { Channel, OutputMessage, Plugin } from '@eyrie/contract'
import { type LogRecord, toSeverity } from '@eyrie/contract/log-record'
import type { Manifest } from '@eyrie/contract/plugin'
import { type Output, styled, type Terminal } from '../command/terminal.ts'
import type { ServiceAccess } from '../engine/engine-access.ts'
import { printRequested } from '../plugin/plugin-grant-report.ts'
import { type DevelopmentPage, type OpenLiveView, serveDevelopmentPage } from './dev-page.ts'
import { type PipelineRequest, preparePipeline } from './dev-pipeline.ts'
import { uploadFolder } from './dev-upload.ts'
import { followElementLog } from './element-log.ts'
import { findExcerpt } from './source-excerpt.ts'
import { watchFolder } from './watch-folder.ts'

/** Width of the first column, with the kind of each line. This is the longest kind. */
const KIND_WIDTH = 'reload'.length
/**
 * Fields of log records that are not printed, because they are the same in all
 * records of the plugin.
 */
const ORIGIN_FIELDS = new Set(['plugin', 'element', 'service', 'pid', 'hostname', 'channel'])

export interface DevelopmentOptions {
  /** The engine, with a token that may change plugins. */
  access: ServiceAccess
  folder: string
  manifest: Manifest
  pipeline: PipelineRequest
  /** Port of the page; 0 selects a free one. */
  port: number
  terminal: Terminal
  /** Fires when the user ends the command. */
  ended: AbortSignal
}

/**
 * Runs a plugin until the signal `ended` fires: uploads it after each change, and reports what
 * it does to the terminal and to a page in the browser. At the end, activates the version again
 * that was active before.
 */
export async function runDevelopment(options: DevelopmentOptions): Promise<void> {
  const engine = createClient(options.access)
  const { name, version } = options.manifest
  const previousVersion = await findActiveVersion(engine, name)
  printRequested('granted', await uploadFolder(engine, options.folder), options.terminal.out)
  try {
    await runOnChannel(engine, options)
  } finally {
    if (previousVersion !== undefined && previousVersion !== version) {
      await engine.plugin.use(name, { version: previousVersion })
    }
  }
}

async function findActiveVersion(engine: Client, name: string): Promise<string | undefined> {
  const plugins: readonly Plugin[] = await engine.plugin.list()
  return plugins.find(plugin => plugin.name === name)?.active
}

/** Runs the plugin on a channel with a page, and removes both at the end. */
async function runOnChannel(engine: Client, options: DevelopmentOptions): Promise<void> {
  const { access, manifest, port, terminal } = options
  const { out } = terminal
  const label = `${manifest.name} ${manifest.version}`
  const pipeline = await preparePipeline(engine, options.pipeline)
  const { channel } = pipeline
  let page: DevelopmentPage | undefined
  try {
    page = await serveDevelopmentPage(port, createOpenLiveView(engine, access, channel))
    page.send({ kind: 'plugin', title: label, hasVideo: channel.stream !== null })
    out.write(`${styled(out, 'green', 'running')} ${label} on source ${channel.source}\n`)
    out.write(`page: ${page.url}\n`)
    await reportUntilEnded(options, engine, channel, page)
  } finally {
    await page?.close()
    await pipeline.remove()
  }
}

/**
 * Returns a function that opens the live view of a channel with a new ticket; undefined if its
 * source has no live view.
 */
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

/** Where everything is reported: on the terminal, and on the page with the code from the folder. */
interface Report {
  folder: string
  out: Output
  page: DevelopmentPage
}

/**
 * Uploads changes, and reports the log and the output of the plugin, until the
 * signal `ended` fires.
 */
async function reportUntilEnded(
  options: DevelopmentOptions,
  engine: Client,
  channel: Channel,
  page: DevelopmentPage,
): Promise<void> {
  const { access, folder, manifest, terminal, ended } = options
  const report: Report = { folder, out: terminal.out, page }
  watchFolder(folder, () => reload(engine, report), ended)

  const onRecord = (record: LogRecord) => reportLogRecord(record, report)
  if (!(await followElementLog(terminal.data, manifest.name, onRecord, ended))) {
    terminal.err.write(
      `there is no log in ${terminal.data}: run eyrie logs on the machine of the engine\n`,
    )
  }

  const { status, reason } = await engine.pipelineStatistics(channel.pipeline)
  page.send({ kind: 'state', time: Date.now(), data: { state: status, reason } })

  // A client of its own: `engine` must still be able to delete the pipeline after
  // the signal has fired.
  const follower = createClient({ ...access, signal: ended })
  const output = follower.output({
    channels: [channel.id],
    kinds: ['frame', 'event', 'count', 'state', 'stats'],
  })
  for await (const message of output) {
    if (message.kind === 'hello' || message.kind === 'gap') continue
    if (message.kind === 'state') await reportState(message, report)
    else reportResult(message, report)
  }
}

/** Uploads the folder, and reports the result. An error in the plugin does not end the command. */
async function reload(engine: Client, { folder, out, page }: Report): Promise<void> {
  const start = performance.now()
  try {
    const granted = await uploadFolder(engine, folder)
    const ms = Math.round(performance.now() - start)
    printRequested('granted', granted, out)
    out.write(`${styled(out, 'green', 'reload')} in ${ms} ms\n`)
    page.send({ kind: 'reload', time: Date.now(), ms })
  } catch (error) {
    const problem = (error as Error).message
    out.write(`${styled(out, 'red', 'reload')} failed: ${problem}\n`)
    const excerpt = await findExcerpt(folder, problem)
    page.send({ kind: 'reload', time: Date.now(), problem, excerpt })
  }
}

function reportLogRecord(
  { level, msg, time, err, ...fields }: LogRecord,
  { out, page }: Report,
): void {
  const text = [msg, err?.message, formatFields(fields)].filter(Boolean).join(' ')
  const severity = toSeverity(level)
  const kind = severity === 'error' || severity === 'warn' ? severity : 'log'
  out.write(`${kind.padEnd(KIND_WIDTH)} ${text}\n`)
  page.send({ kind: 'log', time, level: kind, text })
}

type StateMessage = Extract<OutputMessage, { kind: 'state' }>

/**
 * Reports a state. A state with a reason is a problem: the page then shows the code
 * at which it occurred.
 */
async function reportState(message: StateMessage, { folder, out, page }: Report): Promise<void> {
  const { state, reason } = message.data
  const kind = 'state'.padEnd(KIND_WIDTH)
  if (reason === undefined) {
    out.write(`${styled(out, 'yellow', kind)} ${state}\n`)
    return page.send(message)
  }
  out.write(`${styled(out, 'red', kind)} ${state}: ${reason}\n`)
  const excerpt = await findExcerpt(folder, reason)
  page.send({ ...message, excerpt })
}

/** Reports a result. Only events are printed: the page shows everything else. */
function reportResult(message: Exclude<OutputMessage, StateMessage>, { out, page }: Report): void {
  if (message.kind === 'event') {
    const { type, ...fields } = message.data
    out.write(
      `${styled(out, 'green', 'event'.padEnd(KIND_WIDTH))} ${type} ${formatFields(fields)}\n`,
    )
  }
  page.send(message)
}

const formatFields = (fields: object): string =>
  Object.entries(fields)
    .filter(([key]) => !ORIGIN_FIELDS.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
