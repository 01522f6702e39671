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

const properties = z.record(
  z.string(),
  z.object({ ...channelProperties.shape, static: z.array(shape).optional() }).partial(),
)

/** Media's list of streams. The ids of annotated streams are names. */
const streams = z.array(
  z.object({
    id: z.union([z.number(), z.string()]),
    sound: z.string().optional(),
    ...sourceStatus.pick({ attempts: true, next_try_at: true }).shape,
  }),
)
type MediaStream = z.infer<typeof streams>[number]

/** Combines the engine's answers about its channels with the state of their sources in media. */
export async function listLiveChannels(engine: Upstream, media: Upstream): Promise<LiveChannel[]> {
  const [{ channels = [] }, { sources, pipelines }, propertiesById, streamsById] = await Promise.all([
    engine.get('/api/v3/exports?filter=channels', exportsBody),
    engine.get('/api/v3/configuration', configuration),
    engine.get('/api/v3/exports/channels/properties?props=static,fps,latency&format=formatter_b', properties),
    listStreams(media),
  ])
  const statisticsByPipeline = new Map(
    await Promise.all(
      pipelines.map(async ({ id }) => [id, await getPipelineStatistics(engine, id)] as const),
    ),
  )

  const toLiveChannel = (channel: Channel): LiveChannel[] => {
    const source = sources.find(({ id }) => id === channel.source)
    const pipeline = pipelines.find(({ id }) => id === channel.pipeline)
    const statistics = statisticsByPipeline.get(channel.pipeline)
    // The configuration changed between two answers. The next call is consistent again.
    if (!source || !pipeline || !statistics) return []
    const stream = channel.stream?.id ?? null
    const { static: shapes = [], fps = 0, latency = 0 } = propertiesById[channel.id] ?? {}
    return [
      {
        id: channel.id,
        source: {
          id: source.id,
          name: toSourceName(source.address),
          ...toRetries(streamsById.get(source.id)),
        },
        pipeline: { id: pipeline.id, elements: pipeline.elements.map(({ name }) => name) },
        usecase: pipeline.usecase ?? null,
        shapes,
        stream,
        sound: stream !== null && streamsById.get(stream)?.sound !== undefined,
        status: statistics.status,
        reason: statistics.reason,
        fps,
        latency,
      },
    ]
  }
  return channels.flatMap(toLiveChannel)
}

/** Returns no streams if media is unreachable: channels can still be listed. */
async function listStreams(media: Upstream): Promise<Map<number | string, MediaStream>> {
  const list = await media.get('/streams', streams).catch(() => [])
  return new Map(list.map(stream => [stream.id, stream]))
}

/** The next attempt is in seconds from now, because browsers' clocks differ. */
function toRetries(stream: MediaStream | undefined): Pick<LiveChannel['source'], 'attempts' | 'next_try_s'> {
  const { attempts, next_try_at } = stream ?? {}
  if (next_try_at === undefined) return { attempts }
  return { attempts, next_try_s: Math.max(0, Math.ceil((Date.parse(next_try_at) - Date.now()) / 1000)) }
}

/** Returns undefined if the pipeline has just been deleted. */
async function getPipelineStatistics(engine: Upstream, id: number): Promise<PipelineStatistics | undefined> {
  try {
    return await engine.get(`/api/v3/pipelines/${id}/statistics`, pipelineStatistics)
  } catch (error) {
    if (error instanceof EyrieError && error.code === 'id') return undefined
    throw error
  }
}

/** Returns the display name of a source: a file name, or the camera's host and path without credentials. */
export function toSourceName(address: Address): string {
  const text = typeof address === 'string' ? address : address.url
  if (text.startsWith('/')) return toFileName(text)
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  return url.protocol === 'file:' ? toFileName(decodeURIComponent(url.pathname)) : url.host + url.pathname
}

const toFileName = (path: string) => path.split('/').at(-1) || path
