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

/** What media tells of its streams; annotated ones have names for ids. */
const streams = z.array(
  z.object({
    id: z.union([z.number(), z.string()]),
    sound: z.string().optional(),
    ...sourceStatus.pick({ attempts: true, next_try_at: true }).shape,
  }),
)
type MediaStream = z.infer<typeof streams>[number]

/** Puts together what the engine tells of its channels in several answers, and media of their sources. */
export async function listLiveChannels(engine: Upstream, media: Upstream): Promise<LiveChannel[]> {
  const [{ channels = [] }, { sources, pipelines }, propertiesById, known] = await Promise.all([
    engine.get('/api/v3/exports?filter=channels', exportsBody),
    engine.get('/api/v3/configuration', configuration),
    engine.get('/api/v3/exports/channels/properties?props=static,fps,latency&format=formatter_b', properties),
    mediaStreams(media),
  ])
  const health = new Map(
    await Promise.all(pipelines.map(async ({ id }) => [id, await pipelineHealth(engine, id)] as const)),
  )

  const describe = (channel: Channel): LiveChannel[] => {
    const source = sources.find(({ id }) => id === channel.source)
    const pipeline = pipelines.find(({ id }) => id === channel.pipeline)
    const state = health.get(channel.pipeline)
    // The configuration changed between two answers: the next call sees the channel whole.
    if (!source || !pipeline || !state) return []
    const stream = channel.stream?.id ?? null
    const { static: shapes = [], fps = 0, latency = 0 } = propertiesById[channel.id] ?? {}
    return [
      {
        id: channel.id,
        source: { id: source.id, name: sourceName(source.address), ...retriesOf(known.get(source.id)) },
        pipeline: { id: pipeline.id, elements: pipeline.elements.map(({ name }) => name) },
        usecase: pipeline.usecase ?? null,
        shapes,
        stream,
        sound: stream !== null && known.get(stream)?.sound !== undefined,
        status: state.status,
        reason: state.reason,
        fps,
        latency,
      },
    ]
  }
  return channels.flatMap(describe)
}

/** Channels can be listed without media, too. */
async function mediaStreams(media: Upstream): Promise<Map<number | string, MediaStream>> {
  const told = await media.get('/streams', streams).catch(() => [])
  return new Map(told.map(stream => [stream.id, stream]))
}

/** In seconds from now, since browsers' clocks differ. */
function retriesOf(stream: MediaStream | undefined): Pick<LiveChannel['source'], 'attempts' | 'next_try_s'> {
  const { attempts, next_try_at: at } = stream ?? {}
  if (at === undefined) return { attempts }
  return { attempts, next_try_s: Math.max(0, Math.ceil((Date.parse(at) - Date.now()) / 1000)) }
}

/** Undefined for a pipeline that has just been deleted. */
async function pipelineHealth(engine: Upstream, id: number): Promise<PipelineStatistics | undefined> {
  try {
    return await engine.get(`/api/v3/pipelines/${id}/statistics`, pipelineStatistics)
  } catch (error) {
    if (error instanceof EyrieError && error.code === 'id') return undefined
    throw error
  }
}

/** What people call a source: the file's name, or the camera's host and path; never its credentials. */
export function sourceName(address: Address): string {
  const text = typeof address === 'string' ? address : address.url
  if (text.startsWith('/')) return lastPart(text)
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  return url.protocol === 'file:' ? lastPart(decodeURIComponent(url.pathname)) : url.host + url.pathname
}

const lastPart = (path: string) => path.split('/').at(-1) || path
