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

type ExportContext = Pick<ApiContext, 'configuration' | 'runtime'>

/** How long static metadata is awaited; opening a model takes longest. */
const MAX_OPENING_MS = 5000

/** One stream for each source, with the same id. Empty while media is disconnected. */
export function listStreams({ configuration, runtime }: ExportContext): Stream[] {
  if (!runtime.streamServer()) return []
  return configuration.sources.list().value.map(({ id }) => ({ id, sources: [id] }))
}

export function listChannels(context: ExportContext): Channel[] {
  return context.configuration
    .channels()
    .map(channel => ({ ...channel, stream: findStream(context, channel) }))
}

/** Throws `EyrieError`: `id` for an unknown source, `unavailable` while media is disconnected. */
export function issueTicket(
  { configuration, runtime, internalToken = '' }: ExportContext & Pick<ApiContext, 'internalToken'>,
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

/** The static metadata of a channel, such as its lines and zones. Throws `EyrieError` (`id`). */
export async function readStaticMetadata(
  context: ExportContext,
  id: number,
  format: StaticFormat,
): Promise<unknown> {
  findChannels(context, [id])
  return awaitMetadata(context, id, format)
}

/**
 * The requested properties of the requested channels by channel id. Without `ids`, all channels; without `props`, all
 * properties. Throws `EyrieError` (`id`).
 */
export async function readChannelProperties(
  context: ExportContext,
  ids: number[] | undefined,
  props: ChannelProperty[] | undefined,
  format: StaticFormat,
): Promise<Record<string, ChannelProperties>> {
  const entries = findChannels(context, ids).map(async channel => {
    const readers = createPropertyReaders(context, channel, format)
    return [channel.id, await readProperties(readers, props)] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

type PropertyReaders = {
  [Property in ChannelProperty]: () => ChannelProperties[Property] | Promise<ChannelProperties[Property]>
}

function createPropertyReaders(
  context: ExportContext,
  channel: ChannelPlan,
  format: StaticFormat,
): PropertyReaders {
  const { configuration, runtime } = context
  return {
    source: () => channel.source,
    pipeline: () => channel.pipeline,
    stream: () => findStream(context, channel),
    usecase: () => configuration.pipelines.get(channel.pipeline).value.usecase ?? '',
    static: () => awaitMetadata(context, channel.id, format),
    fps: () => runtime.channelStatistics(channel.id).fps,
    latency: () => runtime.channelStatistics(channel.id).latency,
  }
}

async function readProperties(
  readers: PropertyReaders,
  props = Object.keys(readers) as ChannelProperty[],
): Promise<ChannelProperties> {
  const entries = props.map(async property => [property, await readers[property]()] as const)
  return Object.fromEntries(await Promise.all(entries))
}

/** Elements publish their metadata when they have opened, which is some time after the channel was created. */
async function awaitMetadata(
  { runtime }: ExportContext,
  channel: number,
  format: StaticFormat,
): Promise<unknown> {
  await withTimeout(MAX_OPENING_MS, runtime.waitForChannel(channel)).catch(() => {})
  return formatMetadata(runtime.channelMetadata(channel), format)
}

function findStream({ runtime }: ExportContext, { source }: ChannelPlan): Channel['stream'] {
  const server = runtime.streamServer()
  return server ? { id: source, hostname: server.hostname, port: server.port } : null
}

function findChannels({ configuration }: ExportContext, ids: number[] | undefined): ChannelPlan[] {
  const channels = configuration.channels()
  const missing = ids?.filter(id => !channels.some(channel => channel.id === id)) ?? []
  if (missing.length > 0)
    throw new EyrieError('id', `unknown channels: ${missing.join(', ')}`, { value: { channels: missing } })
  return channels.filter(({ id }) => !ids || ids.includes(id))
}

/** Static metadata unchanged (`pass`), flattened (`formatter_a`) or as a list of shapes to draw (`formatter_b`). */
export function formatMetadata(metadata: Record<string, unknown>, format: StaticFormat): unknown {
  if (format === 'formatter_a') return Object.fromEntries(flatten(metadata, ''))
  return format === 'formatter_b' ? findShapes(metadata) : metadata
}

/** All scalar values with their dotted paths, such as `line-crossing.lines.0.name`. */
function flatten(value: unknown, path: string): [string, unknown][] {
  if (value === null || typeof value !== 'object') return [[path, value]]
  return Object.entries(value).flatMap(([key, part]) => flatten(part, path ? `${path}.${key}` : key))
}
