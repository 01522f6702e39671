import { z } from 'zod'
import { detectedObject, eventData } from './object.ts'

/**
 * ZeroMQ messages between engines and other programs: `[topic, header, payload]`. The topic is
 * the channel, the header is JSON, the payload is a picture or empty. Sinks publish messages,
 * sources subscribe to them.
 */

/** Encoding of the picture that a sink publishes. */
export const messagePayload = z.enum(['jpeg', 'raw', 'none'])

/**
 * GStreamer format of the payload; null if the payload is empty. Raw pictures have no
 * padding between rows.
 */
export const messageFormat = z.enum(['JPEG', 'RGB', 'BGR', 'GRAY8']).nullable()
export type MessageFormat = z.infer<typeof messageFormat>

/**
 * Whether a time is exact as a number of µs since 1970, as those from 1685 to 2254 are. Receivers
 * cannot process others, such as the year 1 of a sender that leaves the time zero.
 */
const isExactInMicroseconds = (time: string) => Number.isSafeInteger(Date.parse(time) * 1000)

/** The header of a message. Receivers ignore unknown fields. */
export const messageHeader = z.looseObject({
  /** Version of the message format. */
  v: z.literal(1),
  /** Counts the messages of a topic, so that receivers can detect missed messages. */
  seq: z.int().min(0),
  /** Stream time of the sender in ticks of 90 kHz. */
  pts: z.int(),
  /** Capture time, RFC 3339. */
  time: z.iso
    .datetime({ offset: true })
    .refine(isExactInMicroseconds, 'it is not the time of a picture'),
  /** Size of the picture in pixels; the size of the source if there is no payload. */
  width: z.int().min(1).max(16_384),
  height: z.int().min(1).max(16_384),
  format: messageFormat,
  objects: z.array(detectedObject).max(10_000).default([]),
  events: z.array(eventData).max(10_000).default([]),
  /** The stream of the sender was interrupted before this frame. */
  discontinuity: z.boolean().optional(),
})
export type MessageHeader = z.infer<typeof messageHeader>

// The options of a connection are the query of its address.

const booleanText = z.enum(['true', 'false']).transform(text => text === 'true')
const integerText = (min: number, max: number) => z.coerce.number().int().min(min).max(max)
const topic = z.string().max(200).default('')

const sinkQuery = z.strictObject({
  /** Whether the socket listens on the endpoint; otherwise it connects to it. */
  bind: booleanText.default(true),
  topic,
  payload: messagePayload.default('jpeg'),
  /** Width of the picture in pixels; by default that of the source. */
  width: integerText(16, 8192).optional(),
  /** Quality of a JPEG picture. */
  quality: integerText(1, 95).optional(),
})
const sourceQuery = z.strictObject({ bind: booleanText.default(false), topic })

/**
 * The options of each kind of address. Internal addresses have no `bind`, because they use no
 * socket.
 */
const QUERIES = {
  sink: sinkQuery,
  source: sourceQuery,
  internalSink: sinkQuery.omit({ bind: true }),
  internalSource: sourceQuery.omit({ bind: true }),
}

type AddressKind = keyof typeof QUERIES

/**
 * The parsed address of a source or sink. `endpoint` is a ZeroMQ endpoint, or a name within the
 * engine for `inproc`.
 */
export interface MessageAddress<Kind extends AddressKind> {
  endpoint: string
  /** Path of the socket of an `ipc` endpoint. */
  path: string | undefined
  query: z.infer<(typeof QUERIES)[Kind]>
}

/**
 * Parses the address of a sink, such as `tcp://host:5555?topic=3`. Throws an `Error` if
 * the address is invalid.
 */
export const parseSinkAddress = (text: string) => parseAddress(text, 'sink')

/** Parses the address of a source in the same form. Throws an `Error` if the address is invalid. */
export const parseSourceAddress = (text: string) => parseAddress(text, 'source')

function parseAddress<Kind extends 'sink' | 'source'>(
  text: string,
  kind: Kind,
): MessageAddress<Kind> {
  const url = URL.parse(text)
  if (url) {
    const query = parseQuery(url, kind)
    if (isTcpAddress(url) && (query.bind || url.hostname !== '*')) {
      return { endpoint: `tcp://${url.host}`, path: undefined, query }
    }
    if (isIpcAddress(url)) {
      const path = decodeURIComponent(url.pathname)
      return { endpoint: `ipc://${path}`, path, query }
    }
  }
  throw new Error(
    'must be a URL such as tcp://host:5555 or ipc:///folder/socket; tcp://*:5555 requires bind=true',
  )
}

const isTcpAddress = ({ protocol, hostname, port, pathname, username }: URL) =>
  protocol === 'tcp:' && hostname !== '' && port !== '' && pathname === '' && username === ''

const isIpcAddress = ({ protocol, host, pathname }: URL) =>
  protocol === 'ipc:' && host === '' && pathname.length > 1

/**
 * Parses the address of an internal sink, such as `inproc://name`. Throws an `Error` if
 * the address is invalid.
 */
export const parseInternalSinkAddress = (text: string) => parseInternalAddress(text, 'internalSink')

/**
 * Parses the address of an internal source in the same form. Throws an `Error` if
 * the address is invalid.
 */
export const parseInternalSourceAddress = (text: string) =>
  parseInternalAddress(text, 'internalSource')

function parseInternalAddress<Kind extends 'internalSink' | 'internalSource'>(
  text: string,
  kind: Kind,
): MessageAddress<Kind> {
  const url = URL.parse(text)
  if (url?.protocol !== 'inproc:' || !/^[\w.-]{1,64}$/.test(url.host) || url.pathname) {
    throw new Error(
      'must be a URL such as inproc://name, with letters, digits, ".", "_" and "-" in the name',
    )
  }
  return { endpoint: url.host, path: undefined, query: parseQuery(url, kind) }
}

function parseQuery<Kind extends AddressKind>(
  { searchParams }: URL,
  kind: Kind,
): MessageAddress<Kind>['query'] {
  const parsed = QUERIES[kind].safeParse(Object.fromEntries(searchParams))
  // TypeScript does not relate the data to the kind.
  if (parsed.success) return parsed.data as MessageAddress<Kind>['query']
  const { path, message } = parsed.error.issues[0]!
  const name = ['query parameter', ...path].join(' ')
  throw new Error(`invalid ${name}: ${message}`)
}
