import {
  type Address,
  type Channel,
  channelProperties,
  configuration,
  EyrieError,
  exportsBody,
  type LiveChannel,
  type PipelineStatistics,
  pipelineStatistics,
  shape,
  sourceStatus,
} from '@eyrie/contract'
import { z } from 'zod'
import type { Upstream } from './upstream-client.ts'

/** Response of the engine: properties of channels by channel id. */
const propertiesByChannel = z.record(
  z.string(),
  z.object({ ...channelProperties.shape, static: z.array(shape).optional() }).partial(),
)

/**
 * Response of the media service: its streams. Annotated streams have names instead of numbers as
 * ids.
 */
const mediaStreams = z.array(
  z.object({
    id: z.union([z.number(), z.string()]),
    /** Codec of the sound. */
    sound: z.string().optional(),
    b_frames: z.boolean().optional(),
    ...sourceStatus.pick({ codec: true, attempts: true, next_try_at: true }).shape,
  }),
)
type MediaStream = z.infer<typeof mediaStreams>[number]

/**
 * Returns the channels that the console's live page shows: the channels of the engine,
 * with the state of their sources from the media service. A channel is a source that is
 * analysed by a pipeline.
 */
export async function listLiveChannels(engine: Upstream, media: Upstream): Promise<LiveChannel[]> {
  const [{ channels = [] }, { sources, pipelines }, propertiesById, streamsById] =
    await Promise.all([
      engine.get('/api/v3/exports?filter=channels', exportsBody),
      engine.get('/api/v3/configuration', configuration),
      engine.get(
        '/api/v3/exports/channels/properties?props=static,fps,latency&format=formatter_b',
        propertiesByChannel,
      ),
      listStreams(media),
    ])
  const statisticsByPipeline = await getStatisticsByPipeline(engine, pipelines)

  const reported: ReportedState = {
    sources,
    pipelines,
    statisticsByPipeline,
    propertiesById,
    streamsById,
  }
  return channels
    .map(channel => toLiveChannel(channel, reported))
    .filter(liveChannel => liveChannel !== undefined)
}

/** What the engine and the media service have reported about channels. */
interface ReportedState {
  sources: z.infer<typeof configuration>['sources']
  pipelines: z.infer<typeof configuration>['pipelines']
  statisticsByPipeline: ReadonlyMap<number, PipelineStatistics | undefined>
  propertiesById: z.infer<typeof propertiesByChannel>
  streamsById: ReadonlyMap<number | string, MediaStream>
}

/**
 * Returns undefined for a channel whose source or pipeline is missing in one of the responses,
 * because the configuration has changed between the requests.
 */
function toLiveChannel(channel: Channel, reported: ReportedState): LiveChannel | undefined {
  const { statisticsByPipeline, propertiesById, streamsById } = reported
  const source = reported.sources.find(({ id }) => id === channel.source)
  const pipeline = reported.pipelines.find(({ id }) => id === channel.pipeline)
  const statistics = statisticsByPipeline.get(channel.pipeline)
  if (!source || !pipeline || !statistics) return undefined

  const stream = channel.stream?.id ?? null
  const hasSound = stream !== null && streamsById.get(stream)?.sound !== undefined
  const { static: shapes = [], fps = 0, latency = 0 } = propertiesById[channel.id] ?? {}
  return {
    id: channel.id,
    source: {
      id: source.id,
      name: toSourceName(source.address),
      // The stream of a source has the same id as the source.
      ...toSourceState(streamsById.get(source.id)),
    },
    pipeline: { id: pipeline.id, elements: pipeline.elements.map(({ name }) => name) },
    usecase: pipeline.usecase ?? null,
    shapes,
    stream,
    sound: hasSound,
    status: statistics.status,
    reason: statistics.reason,
    fps,
    latency,
  }
}

/**
 * Returns the streams by id. Returns none if the media service fails, so that the channels are
 * listed even then.
 */
async function listStreams(media: Upstream): Promise<Map<number | string, MediaStream>> {
  const streams = await media.get('/streams', mediaStreams).catch(() => [])
  return new Map(streams.map(stream => [stream.id, stream]))
}

function toSourceState(
  stream: MediaStream | undefined,
): Omit<LiveChannel['source'], 'id' | 'name'> {
  if (!stream) return {}
  const retries = toRetries(stream)
  // The codec is known from the first picture on.
  const isNeverConnected = retries.attempts !== undefined && stream.codec === undefined
  return {
    ...retries,
    ...(isNeverConnected && { never_connected: true }),
    ...(stream.b_frames && { b_frames: true }),
  }
}

/**
 * Returns the attempts to connect to a source. The time of the next attempt is converted to the
 * time until then, because the clocks of browsers may be wrong.
 */
function toRetries({
  attempts,
  next_try_at: nextTryAt,
}: MediaStream): Pick<LiveChannel['source'], 'attempts' | 'next_try_s'> {
  if (nextTryAt === undefined) return { attempts }
  const delayMs = Date.parse(nextTryAt) - Date.now()
  return { attempts, next_try_s: Math.max(0, Math.ceil(delayMs / 1000)) }
}

/** Returns the statistics of pipelines by id, undefined for a pipeline that was just deleted. */
async function getStatisticsByPipeline(
  engine: Upstream,
  pipelines: readonly { id: number }[],
): Promise<Map<number, PipelineStatistics | undefined>> {
  const entries = await Promise.all(
    pipelines.map(async ({ id }) => [id, await getPipelineStatistics(engine, id)] as const),
  )
  return new Map(entries)
}

async function getPipelineStatistics(
  engine: Upstream,
  id: number,
): Promise<PipelineStatistics | undefined> {
  try {
    return await engine.get(`/api/v3/pipelines/${id}/statistics`, pipelineStatistics)
  } catch (error) {
    if (error instanceof EyrieError && error.code === 'id') return undefined
    throw error
  }
}

/**
 * Returns the display name of a source: a file name, or the camera's host and path
 * without credentials.
 */
export function toSourceName(address: Address): string {
  const text = typeof address === 'string' ? address : address.url
  if (text.startsWith('/')) return toFileName(text)
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  return url.protocol === 'file:'
    ? toFileName(decodeURIComponent(url.pathname))
    : url.host + url.pathname
}

const toFileName = (path: string) => path.split('/').at(-1) || path
