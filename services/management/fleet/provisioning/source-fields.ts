import {
  type Address,
  type AddressObject,
  hasSameServer,
  parseVideoDevice,
  type SourceType,
  sourceType,
  toAddressObject,
} from '@eyrie/contract'

/** A stored source, with the stream of the device that it plays. */
export interface StoredSource {
  source_type: string
  source_address: string
  source_fps: number | null
  stream: StoredStream | null
  /** A smaller stream of the same device. */
  sub_stream: StoredStream | null
}

export interface StoredStream {
  type: string
  address: string
  protocol: string
  port: number | null
  username: string
  /** Plain text. */
  password: string
  fps: { output?: number | undefined } | null | undefined
}

/** The fields of a source on the engine. */
export interface SourceFields {
  type: SourceType
  address: Address
  /** Frames per second. Undefined: all frames of the stream. */
  rate: number | undefined
}

/**
 * Translates a stored source into the fields of a source on the engine. Returns undefined if the
 * source has no address.
 *
 * - Address: `source_address` takes precedence over the address of the stream.
 * - Credentials: credentials in the URL take precedence over the credentials of the stream. The
 *   latter are sent only to the server of the stream.
 * - Transport: the sub stream uses the transport of the main stream.
 */
export function toSourceFields(source: StoredSource): SourceFields | undefined {
  const { stream, sub_stream: subStream } = source
  const streamUrl = stream ? toStreamUrl(stream) : ''
  const url = source.source_address.trim() || streamUrl
  if (!url) return undefined

  const credentials = stream && hasSameServer(url, streamUrl) ? stream : undefined
  const { transport } = parseProtocol(stream?.protocol)
  const address = toAddress(url, credentials, transport)
  const type = parseType(source.source_type) ?? parseType(stream?.type) ?? inferType(url)
  return {
    type,
    address: type === 'video' && subStream ? addSubStream(address, subStream) : address,
    // Zero means that no rate is set.
    rate: source.source_fps || stream?.fps?.output || undefined,
  }
}

/** Returns undefined for text that is not a type of sources. */
const parseType = (text: string | undefined) => sourceType.safeParse(text).data

/**
 * Parses the protocol of a stream, which may be followed by `://`. The default is RTSP. `tcp` and
 * `udp` mean RTSP over this transport.
 */
function parseProtocol(text = ''): {
  scheme: string
  transport: AddressObject['transport'] | undefined
} {
  const protocol = text.replace('://', '').toLowerCase() || 'rtsp'
  if (protocol === 'tcp' || protocol === 'udp') return { scheme: 'rtsp', transport: protocol }
  return { scheme: protocol, transport: undefined }
}

/**
 * Adds a sub stream to an address. If it has other credentials than the main stream, they
 * become a part of its URL.
 */
function addSubStream(address: Address, subStream: StoredStream): Address {
  const main = toAddressObject(address)
  const sub = toAddressObject(toAddress(toStreamUrl(subStream), subStream, undefined))
  if (!sub.url || sub.url === main.url) return address

  const differs = sub.username !== main.username || sub.password !== main.password
  const hasOwnCredentials = sub.username && differs
  return { ...main, sub_url: hasOwnCredentials ? addUserinfo(sub) : sub.url }
}

function addUserinfo({ url, username = '', password = '' }: AddressObject): string {
  const userinfo = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`
  return url.replace('://', `://${userinfo}@`)
}

/**
 * Returns the address of a stream as a URL. A host is combined with the stream's protocol and port.
 * An address that is already a URL or a path is returned unchanged.
 */
export function toStreamUrl(stream: Pick<StoredStream, 'address' | 'port' | 'protocol'>): string {
  const { port, protocol } = stream
  const address = stream.address.trim()
  const isPath = address.startsWith('/')
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(address)
  if (address === '' || isPath || isUrl) return address

  // Splits `camera:554/main?channel=1` before the path or the query.
  const [, host = '', path = ''] = /^([^/?]*)(.*)$/.exec(address) ?? []
  // Matches `camera:554` and `[::1]:554`.
  const hasPort = /^[^:]+:\d+$|\]:\d+$/.test(host)
  // Matches `::1` and `::ffff:10.0.0.5`.
  const isBareIpv6 = /^[\da-f]*:[\da-f:.]*$/i.test(host) && !hasPort
  const hostname = isBareIpv6 ? `[${host}]` : host
  const portSuffix = port && !hasPort ? `:${port}` : ''
  return `${parseProtocol(protocol).scheme}://${hostname}${portSuffix}${path}`
}

/**
 * Moves the credentials of a URL to fields of their own, and adds the transport. `stored` are the
 * credentials for a URL that contains none. Returns just the URL if there is neither a credential
 * nor a transport.
 */
function toAddress(
  url: string,
  stored: { username: string; password: string } | undefined,
  transport: AddressObject['transport'] | undefined,
): Address {
  // Splits `rtsp://user:password@camera:554/main`. The user information ends at the last "@" before
  // the path, because a password may contain "@".
  const [, scheme = '', userinfo, hostAndPath = ''] =
    /^((?:rtsps?|https?):\/\/)(?:([^/?#]*)@)?(.*)$/i.exec(url) ?? []
  if (!scheme) return url

  const credentials = userinfo === undefined ? stored : parseUserinfo(userinfo)
  const { username = '', password = '' } = credentials ?? {}
  const address: AddressObject = {
    url: scheme + hostAndPath,
    ...(username && { username }),
    ...(password && { password }),
    ...(transport && { transport }),
  }
  const hasOnlyUrl = Object.keys(address).length === 1
  return hasOnlyUrl ? address.url : address
}

function parseUserinfo(userinfo: string): { username: string; password: string } {
  const [username = '', ...passwordParts] = userinfo.split(':')
  return { username: decodePercent(username), password: decodePercent(passwordParts.join(':')) }
}

/** Decodes percent-encoding. Text with an invalid escape is returned unchanged. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The type of a source by the scheme of its address. */
const TYPES_BY_SCHEME: ReadonlyMap<string, SourceType> = new Map<string, SourceType>([
  ['rtsp', 'video'],
  ['rtsps', 'video'],
  ['http', 'video'],
  ['https', 'video'],
  // A test pattern, which is played in an endless loop.
  ['test', 'inf'],
  // Frames that are published with ZeroMQ: within the engine, or by another program.
  ['inproc', 'zmqinternal'],
  ['tcp', 'zmq'],
  ['ipc', 'zmq'],
])

/** Infers the type of a source from its address. */
function inferType(url: string): SourceType {
  if (parseVideoDevice(url)) return 'video'
  const [, scheme = ''] = /^([a-z]+):\/\//i.exec(url) ?? []
  return TYPES_BY_SCHEME.get(scheme.toLowerCase()) ?? 'file'
}
