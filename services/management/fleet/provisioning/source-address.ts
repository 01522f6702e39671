import {
  type Address,
  type AddressObject,
  parseVideoDevice,
  type SourceType,
  sourceType,
} from '@eyrie/contract'

/** What is stored of where a source's pictures come from. */
export interface StoredPlace {
  source_type: string
  source_address: string
  source_fps: number | null
  /** Of the device's stream that the source names; the password open. */
  stream: {
    type: string
    address: string
    protocol: string
    port: number | null
    username: string
    password: string
    fps: { output?: number | undefined } | null | undefined
  } | null
}

/** The fields of a source on the engine that follow from what is stored. */
export interface SourceFields {
  type: SourceType
  address: Address
  rate: number | undefined
}

/**
 * Where the engine finds a source. `source_address` wins; else it is the stream's address, which may be a whole URL or a
 * host, put together with the stream's protocol (RTSP where none is named; `tcp` and `udp` are RTSP by that transport)
 * and port. Credentials, from the URL or the stream, go in the long form. Undefined where there is no address.
 */
export function sourceFields({
  source_type,
  source_address,
  source_fps,
  stream,
}: StoredPlace): SourceFields | undefined {
  const protocol = stream?.protocol.replace('://', '').toLowerCase() ?? ''
  const transport = protocol === 'tcp' || protocol === 'udp' ? protocol : undefined
  const url = source_address.trim() || (stream && urlOf(stream, transport ? 'rtsp' : protocol || 'rtsp'))
  if (!url) return undefined
  const rate = source_fps || stream?.fps?.output || undefined
  const type = [source_type, stream?.type].map(given => sourceType.safeParse(given).data).find(Boolean)
  return { type: type ?? typeOf(url), address: addressOf(url, stream, transport), rate }
}

function urlOf({ address, port }: NonNullable<StoredPlace['stream']>, scheme: string): string {
  const given = address.trim()
  if (given === '' || given.startsWith('/') || /^[a-z][a-z0-9+.-]*:\/\//i.test(given)) return given
  const [, host = '', path = ''] = /^([^/?]*)(.*)$/.exec(given) ?? []
  const hasPort = /^[^:]+:\d+$|\]:\d+$/.test(host)
  const bracketed = /^[\da-f]*:[\da-f:.]*$/i.test(host) && !hasPort ? `[${host}]` : host
  return `${scheme}://${bracketed}${port && !hasPort ? `:${port}` : ''}${path}`
}

function addressOf(
  url: string,
  stream: StoredPlace['stream'],
  transport: AddressObject['transport'] | undefined,
): Address {
  // The last @ of the authority ends the password.
  const [, scheme = '', userinfo, rest = ''] =
    /^((?:rtsps?|https?):\/\/)(?:([^/?#]*)@)?(.*)$/i.exec(url) ?? []
  if (!scheme) return url
  const [user = '', ...password] = userinfo?.split(':') ?? []
  const credentials =
    userinfo === undefined
      ? { username: stream?.username ?? '', password: stream?.password ?? '' }
      : { username: decoded(user), password: decoded(password.join(':')) }
  const long: AddressObject = {
    url: scheme + rest,
    ...(credentials.username && { username: credentials.username }),
    ...(credentials.password && { password: credentials.password }),
    ...(transport && { transport }),
  }
  return Object.keys(long).length > 1 ? long : long.url
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function typeOf(url: string): SourceType {
  if (/^(?:rtsps?|https?):\/\//i.test(url) || parseVideoDevice(url)) return 'video'
  if (/^test:\/\//i.test(url)) return 'inf'
  if (/^inproc:\/\//i.test(url)) return 'zmqinternal'
  if (/^(?:tcp|ipc):\/\//i.test(url)) return 'zmq'
  return 'file'
}
