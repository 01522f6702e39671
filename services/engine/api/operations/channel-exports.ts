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

/**
 * The operations on exports. Exports are what other systems read from the engine: the live streams
 * of sources, and the channels with their properties. A channel is a pipeline that analyses one
 * source.
 */

/**
 * Maximum time to wait until all elements of a channel are open. Loading a large model takes
 * seconds.
 */
const MAX_OPENING_MS = 5000

type ExportContext = Pick<ApiContext, 'configuration' | 'runtime'>

/**
 * Lists one stream for each source, with the same id. Empty while the media service is
 * disconnected.
 */
export function listStreams({ configuration, runtime }: ExportContext): Stream[] {
  if (!runtime.streamServer()) return []
  return configuration.sources.list().value.map(({ id }) => ({ id, sources: [id] }))
}

/** Lists the channels, each with the stream of its source. */
export function listChannels(context: ExportContext): Channel[] {
  return context.configuration
    .channels()
    .map(channel => ({ ...channel, stream: findStream(context, channel.source) }))
}

/**
 * Issues a ticket with which a browser can read the stream of a source from the media
 * service. Throws `EyrieError`: `id` if the source is unknown, `unavailable` while the media
 * service is disconnected.
 */
export function issueTicket(
  context: ExportContext & Pick<ApiContext, 'internalToken'>,
  source: number,
): StreamTicket {
  const { configuration, internalToken } = context
  // Throws if the source is unknown.
  configuration.sources.get(source)
  const stream = findStream(context, source)
  if (!stream || internalToken === undefined) {
    throw new EyrieError('unavailable', 'the media service is not connected: try again later')
  }
  const expiresAtMs = Date.now() + TICKET_LIFETIME_S * 1000
  return {
    ticket: signTicket(internalToken, { stream: String(source), expires: expiresAtMs }),
    expires_in: TICKET_LIFETIME_S,
    stream,
  }
}

/**
 * Reads the static metadata of a channel, such as its lines and zones. Throws `EyrieError` (`id`)
 * if the channel is unknown.
 */
export async function readStaticMetadata(
  context: ExportContext,
  channel: number,
  format: StaticFormat,
): Promise<unknown> {
  // Throws if the channel is unknown.
  findChannels(context, [channel])
  return awaitMetadata(context, channel, format)
}

export interface PropertyQuery {
  /** Ids of the channels; all channels by default. */
  ids?: number[] | undefined
  /** The properties of each channel; all properties by default. */
  props?: ChannelProperty[] | undefined
  /** Format of the static metadata. */
  format: StaticFormat
}

/** Reads properties of channels, by channel id. Throws `EyrieError` (`id`) if one is unknown. */
export async function readChannelProperties(
  context: ExportContext,
  { ids, props, format }: PropertyQuery,
): Promise<Record<string, ChannelProperties>> {
  const channels = findChannels(context, ids)
  const entries = channels.map(async channel => {
    const readers = createPropertyReaders(context, channel, format)
    return [channel.id, await readProperties(readers, props)] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

/**
 * A function for each property of a channel, which reads it. Only those of the requested properties
 * are called, because reading `static`, for example, may take seconds.
 */
type PropertyReaders = {
  [Property in ChannelProperty]: () =>
    | ChannelProperties[Property]
    | Promise<ChannelProperties[Property]>
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
    stream: () => findStream(context, channel.source),
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

/** Reads the metadata of a channel as soon as its elements are open. Closed elements have none. */
async function awaitMetadata(
  { runtime }: ExportContext,
  channel: number,
  format: StaticFormat,
): Promise<unknown> {
  // Rejects only at the timeout. Then the metadata of the elements that are open is returned.
  await withTimeout(MAX_OPENING_MS, runtime.waitForChannel(channel)).catch(() => {})
  return formatMetadata(runtime.channelMetadata(channel), format)
}

/**
 * Returns the stream of a source, which has the same id. Null while the media service is
 * disconnected.
 */
function findStream({ runtime }: ExportContext, source: number): Channel['stream'] {
  const server = runtime.streamServer()
  return server ? { id: source, hostname: server.hostname, port: server.port } : null
}

/**
 * Returns the channels with these ids, all channels by default. Throws `EyrieError` (`id`) if
 * a channel is unknown.
 */
function findChannels({ configuration }: ExportContext, ids: number[] | undefined): ChannelPlan[] {
  const channels = configuration.channels()
  if (!ids) return channels
  const missing = ids.filter(id => !channels.some(channel => channel.id === id))
  if (missing.length > 0) {
    throw new EyrieError('id', `unknown channels: ${missing.join(', ')}`, {
      value: { channels: missing },
    })
  }
  return channels.filter(({ id }) => ids.includes(id))
}

/**
 * Returns static metadata unchanged (`pass`), as values by path (`formatter_a`) or as a list of
 * shapes to draw (`formatter_b`).
 */
export function formatMetadata(metadata: Record<string, unknown>, format: StaticFormat): unknown {
  switch (format) {
    case 'pass':
      return metadata
    case 'formatter_a':
      return Object.fromEntries(flatten(metadata, ''))
    case 'formatter_b':
      return findShapes(metadata)
  }
}

/** Lists all scalar values with their dotted paths, such as `line-crossing.lines.0.name`. */
function flatten(value: unknown, path: string): [path: string, value: unknown][] {
  if (value === null || typeof value !== 'object') return [[path, value]]
  return Object.entries(value).flatMap(([key, nested]) => {
    const nestedPath = path ? `${path}.${key}` : key
    return flatten(nested, nestedPath)
  })
}
