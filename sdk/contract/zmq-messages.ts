import { z } from 'zod'
import { detectedObject, eventData } from './object.ts'

/**
 * ZeroMQ messages between engines, and to whoever else reads them: `[topic, header, payload]`. The topic names the
 * channel, the header is JSON, the payload is a picture or empty. A sink publishes, a source subscribes.
 */

/** What a sink sends of the picture. */
export const messagePayload = z.enum(['jpeg', 'raw', 'none'])

/** GStreamer's name of what the payload holds; raw pictures have their rows packed. Null: the payload is empty. */
export const messageFormat = z.enum(['JPEG', 'RGB', 'BGR', 'GRAY8']).nullable()
export type MessageFormat = z.infer<typeof messageFormat>

/** Header of a message. A reader passes over what it does not know. */
export const messageHeader = z.looseObject({
  v: z.literal(1),
  /** Counts the messages of a topic, so that a reader sees what it has missed. */
  seq: z.int().min(0),
  /** 90 kHz ticks of the sender's stream time. */
  pts: z.int(),
  /** When the picture was taken, RFC 3339. */
  time: z.iso.datetime({ offset: true }),
  /** Size of the payload's picture in pixels; without one, of the source's. */
  width: z.int().min(1).max(16_384),
  height: z.int().min(1).max(16_384),
  format: messageFormat,
  objects: z.array(detectedObject).max(10_000).default([]),
  events: z.array(eventData).max(10_000).default([]),
  /** The sender's stream was interrupted before this frame. */
  discontinuity: z.boolean().optional(),
})
export type MessageHeader = z.infer<typeof messageHeader>

const flag = z.enum(['true', 'false']).transform(text => text === 'true')
const number = (least: number, most: number) => z.coerce.number().int().min(least).max(most)
const topic = z.string().max(200).default('')

const sinkQuery = z.strictObject({
  bind: flag.default(true),
  topic,
  payload: messagePayload.default('jpeg'),
  width: number(16, 8192).optional(),
  quality: number(1, 95).optional(),
})
const sourceQuery = z.strictObject({ bind: flag.default(false), topic })
const queries = {
  sink: sinkQuery,
  source: sourceQuery,
  internalSink: sinkQuery.omit({ bind: true }),
  internalSource: sourceQuery.omit({ bind: true }),
}

/** Where messages go to or come from. `endpoint` is ZeroMQ's, or the name where it is internal to the engine. */
export interface MessageAddress<Query extends keyof typeof queries> {
  endpoint: string
  /** Of the socket in the file system, where the endpoint is one. */
  path: string | undefined
  query: z.infer<(typeof queries)[Query]>
}

/** Reads an address such as `tcp://host:5555?topic=3`. Throws an Error that says what is wrong with it. */
export const parseSinkAddress = (url: string) => read(url, 'sink')
export const parseSourceAddress = (url: string) => read(url, 'source')

function read<Query extends 'sink' | 'source'>(text: string, kind: Query): MessageAddress<Query> {
  const url = URL.parse(text)
  const query = url && readQuery(url, kind)
  const reached = query?.bind || url?.hostname !== '*'
  if (
    query &&
    url.protocol === 'tcp:' &&
    url.hostname &&
    url.port &&
    !url.pathname &&
    !url.username &&
    reached
  )
    return { endpoint: `tcp://${url.host}`, path: undefined, query }
  if (query && url.protocol === 'ipc:' && url.pathname.length > 1 && !url.host) {
    const path = decodeURIComponent(url.pathname)
    return { endpoint: `ipc://${path}`, path, query }
  }
  throw new Error(
    'it must be such as tcp://host:5555 or ipc:///folder/socket; tcp://*:5555 can only be bound',
  )
}

/** Reads an address such as `inproc://name`. Throws an Error that says what is wrong with it. */
export const parseInternalSinkAddress = (url: string) => readInternal(url, 'internalSink')
export const parseInternalSourceAddress = (url: string) => readInternal(url, 'internalSource')

function readInternal<Query extends 'internalSink' | 'internalSource'>(
  text: string,
  kind: Query,
): MessageAddress<Query> {
  const url = URL.parse(text)
  if (url?.protocol !== 'inproc:' || !/^[\w.-]{1,64}$/.test(url.host) || url.pathname)
    throw new Error('it must be such as inproc://name, of letters, digits, points and dashes')
  return { endpoint: url.host, path: undefined, query: readQuery(url, kind) }
}

function readQuery<Query extends keyof typeof queries>(
  { searchParams }: URL,
  kind: Query,
): MessageAddress<Query>['query'] {
  const parsed = queries[kind].safeParse(Object.fromEntries(searchParams))
  if (parsed.success) return parsed.data as MessageAddress<Query>['query']
  const [issue] = parsed.error.issues
  throw new Error(
    `its query is wrong${issue?.path.map(key => ` at ${String(key)}`).join('')}: ${issue?.message}`,
  )
}
