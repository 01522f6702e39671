import {
  type Channel,
  type ChannelProperties,
  type ChannelProperty,
  EyrieError,
  type StaticFormat,
  type Stream,
  type StreamTicket,
} from '@eyrie/contract'
import { signTicket, TICKET_LIFETIME_S } from '@eyrie/kit/stream-ticket'
import { withTimeout } from '@eyrie/kit/timeout'
import { findShapes } from '../../pictures/drawing.ts'
import type { ChannelPlan } from '../../plan/plan.ts'
import type { ApiContext } from './api-context.ts'

type Exporter = Pick<ApiContext, 'configuration' | 'runtime'>

/** A model takes longest to open. */
const OPENING_MS = 5000

/** Every source is a stream of the same id, as long as media is there to serve it. */
export function listStreams({ configuration, runtime }: Exporter): Stream[] {
  if (!runtime.streamServer()) return []
  return configuration.sources.list().value.map(({ id }) => ({ id, sources: [id] }))
}

export function listChannels(context: Exporter): Channel[] {
  return context.configuration.channels().map(channel => ({ ...channel, stream: streamOf(context, channel) }))
}

/** Throws EyrieError: `id` where there is no such source, `unavailable` while media does not serve it. */
export function issueTicket(
  { configuration, runtime, internalToken = '' }: Exporter & Pick<ApiContext, 'internalToken'>,
  id: number,
): StreamTicket {
  configuration.sources.get(id)
  const server = runtime.streamServer()
  if (!server) throw new EyrieError('unavailable', 'media is not connected')
  const expires = Date.now() + TICKET_LIFETIME_S * 1000
  return {
    ticket: signTicket(internalToken, { stream: String(id), expires }),
    expires_in: TICKET_LIFETIME_S,
    stream: { id, hostname: server.hostname, port: server.port },
  }
}

/** A channel's lines, zones and the like. Throws EyrieError `id`. */
export async function staticMetadata(context: Exporter, id: number, format: StaticFormat): Promise<unknown> {
  findChannels(context, [id])
  return metadataOf(context, id, format)
}

/** The asked properties of the asked channels, by channel id; all if none is named. Throws EyrieError `id`. */
export async function channelProperties(
  context: Exporter,
  ids: number[] | undefined,
  props: ChannelProperty[] | undefined,
  format: StaticFormat,
): Promise<Record<string, ChannelProperties>> {
  const picked = findChannels(context, ids).map(
    async channel => [channel.id, await pick(readersOf(context, channel, format), props)] as const,
  )
  return Object.fromEntries(await Promise.all(picked))
}

type Maybe<Value> = Value | Promise<Value>
type Readers = { [Property in ChannelProperty]: () => Maybe<ChannelProperties[Property]> }

function readersOf(context: Exporter, channel: ChannelPlan, format: StaticFormat): Readers {
  const { configuration, runtime } = context
  return {
    source: () => channel.source,
    pipeline: () => channel.pipeline,
    stream: () => streamOf(context, channel),
    usecase: () => configuration.pipelines.get(channel.pipeline).value.usecase ?? '',
    static: () => metadataOf(context, channel.id, format),
    fps: () => runtime.channelStatistics(channel.id).fps,
    latency: () => runtime.channelStatistics(channel.id).latency,
  }
}

async function pick(
  readers: Readers,
  props = Object.keys(readers) as ChannelProperty[],
): Promise<ChannelProperties> {
  const read = props.map(async property => [property, await readers[property]()] as const)
  return Object.fromEntries(await Promise.all(read))
}

/** Elements show something once they are open: a moment after the edit that has made the channel. */
async function metadataOf({ runtime }: Exporter, id: number, format: StaticFormat): Promise<unknown> {
  await withTimeout(OPENING_MS, runtime.waitForChannel(id)).catch(() => {})
  return formatMetadata(runtime.channelMetadata(id), format)
}

function streamOf({ runtime }: Exporter, { source }: ChannelPlan): Channel['stream'] {
  const server = runtime.streamServer()
  return server ? { id: source, hostname: server.hostname, port: server.port } : null
}

function findChannels({ configuration }: Exporter, ids: number[] | undefined): ChannelPlan[] {
  const channels = configuration.channels()
  const missing = ids?.filter(id => !channels.some(channel => channel.id === id)) ?? []
  if (missing.length > 0)
    throw new EyrieError('id', `there is no channel ${missing.join(', ')}`, { value: { channels: missing } })
  return channels.filter(({ id }) => !ids || ids.includes(id))
}

/** Static metadata as the elements produced it, flat (`formatter_a`), or as shapes to draw (`formatter_b`). */
export function formatMetadata(metadata: Record<string, unknown>, format: StaticFormat): unknown {
  if (format === 'formatter_a') return Object.fromEntries(flatten(metadata, ''))
  return format === 'formatter_b' ? findShapes(metadata) : metadata
}

/** Every single value with its dotted path, such as `line-crossing.lines.0.name`. */
function flatten(value: unknown, path: string): [string, unknown][] {
  if (value === null || typeof value !== 'object') return [[path, value]]
  return Object.entries(value).flatMap(([key, part]) => flatten(part, path ? `${path}.${key}` : key))
}
