import { z } from 'zod'
import { detectedObject, eventData } from './object.ts'

/**
 * ZeroMQ messages between engines and other programs: `[topic, header, payload]`. The topic is the channel, the header is
 * JSON, the payload is a picture or empty. Sinks publish messages, sources subscribe to them.
 */

/** How a sink sends the picture. */
export const messagePayload = z.enum(['jpeg', 'raw', 'none'])

/** GStreamer format of the payload. Rows of raw pictures are packed. Null if the payload is empty. */
export const messageFormat = z.enum(['JPEG', 'RGB', 'BGR', 'GRAY8']).nullable()
export type MessageFormat = z.infer<typeof messageFormat>

/** Message header. Readers ignore unknown fields. */
export const messageHeader = z.looseObject({
  v: z.literal(1),
  /** Counts the messages of a topic, so that readers can detect missed messages. */
  seq: z.int().min(0),
  /** Stream time of the sender in ticks of 90 kHz. */
  pts: z.int(),
  /** Capture time, RFC 3339. */
  time: z.iso.datetime({ offset: true }),
  /** Size of the picture in pixels. Without a payload, the size of the source. */
  width: z.int().min(1).max(16_384),
  height: z.int().min(1).max(16_384),
  format: messageFormat,
  objects: z.array(detectedObject).max(10_000).default([]),
  events: z.array(eventData).max(10_000).default([]),
  /** The stream of the sender was interrupted before this frame. */
  discontinuity: z.boolean().optional(),
})
export type MessageHeader = z.infer<typeof messageHeader>

const flag = z.enum(['true', 'false']).transform(text => text === 'true')
const integer = (min: number, max: number) => z.coerce.number().int().min(min).max(max)
const topic = z.string().max(200).default('')

const sinkQuery = z.strictObject({
  bind: flag.default(true),
  topic,
  payload: messagePayload.default('jpeg'),
  width: integer(16, 8192).optional(),
  quality: integer(1, 95).optional(),
})
const sourceQuery = z.strictObject({ bind: flag.default(false), topic })
const queries = {
  sink: sinkQuery,
  source: sourceQuery,
  internalSink: sinkQuery.omit({ bind: true }),
  internalSource: sourceQuery.omit({ bind: true }),
}

/** Parsed address of a ZeroMQ sink or source. `endpoint` is a ZeroMQ endpoint, or the name of an internal one. */
export interface MessageAddress<Query extends keyof typeof queries> {
  endpoint: string
  /** Path of the socket of an `ipc` endpoint. */
  path: string | undefined
  query: z.infer<(typeof queries)[Query]>
}

/** Parses an address such as `tcp://host:5555?topic=3`. Throws an `Error` if it is not valid. */
export const parseSinkAddress = (url: string) => parse(url, 'sink')
export const parseSourceAddress = (url: string) => parse(url, 'source')

function parse<Query extends 'sink' | 'source'>(text: string, kind: Query): MessageAddress<Query> {
  const url = URL.parse(text)
  const query = url && parseQuery(url, kind)
  const isReachable = query?.bind || url?.hostname !== '*'
  if (
    query &&
    url.protocol === 'tcp:' &&
    url.hostname &&
    url.port &&
    !url.pathname &&
    !url.username &&
    isReachable
  )
    return { endpoint: `tcp://${url.host}`, path: undefined, query }
  if (query && url.protocol === 'ipc:' && url.pathname.length > 1 && !url.host) {
    const path = decodeURIComponent(url.pathname)
    return { endpoint: `ipc://${path}`, path, query }
  }
  throw new Error(
    'must be a URL such as tcp://host:5555 or ipc:///folder/socket; tcp://*:5555 requires bind=true',
  )
}

/** Parses an address such as `inproc://name`. Throws an `Error` if it is not valid. */
export const parseInternalSinkAddress = (url: string) => parseInternal(url, 'internalSink')
export const parseInternalSourceAddress = (url: string) => parseInternal(url, 'internalSource')

function parseInternal<Query extends 'internalSink' | 'internalSource'>(
  text: string,
  kind: Query,
): MessageAddress<Query> {
  const url = URL.parse(text)
  if (url?.protocol !== 'inproc:' || !/^[\w.-]{1,64}$/.test(url.host) || url.pathname)
    throw new Error('must be a URL such as inproc://name, with letters, digits, ".", "_" and "-" in the name')
  return { endpoint: url.host, path: undefined, query: parseQuery(url, kind) }
}

function parseQuery<Query extends keyof typeof queries>(
  { searchParams }: URL,
  kind: Query,
): MessageAddress<Query>['query'] {
  const parsed = queries[kind].safeParse(Object.fromEntries(searchParams))
  if (parsed.success) return parsed.data as MessageAddress<Query>['query']
  const [issue] = parsed.error.issues
  throw new Error(
    `invalid query parameter${issue?.path.map(key => ` ${String(key)}`).join('')}: ${issue?.message}`,
  )
}
