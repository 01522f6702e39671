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
 * - Credentials: those in the URL take precedence over those of the stream, which are sent only to
 *   the server of the stream.
 * - Transport: the sub stream uses the transport of the main stream.
 */
export function toSourceFields({
  source_type: sourceType,
  source_address: sourceAddress,
  source_fps: sourceFps,
  stream,
  sub_stream: subStream,
}: StoredSource): SourceFields | undefined {
  const { transport } = parseProtocol(stream)
  const streamUrl = stream ? toStreamUrl(stream) : ''
  const url = sourceAddress.trim() || streamUrl
  if (!url) return undefined
  const credentials = stream && hasSameServer(url, streamUrl) ? stream : undefined

  const type = parseType(sourceType) ?? parseType(stream?.type) ?? inferType(url)
  const address = toAddress(url, credentials, transport)
  return {
    type,
    address: type === 'video' && subStream ? addSubStream(address, subStream) : address,
    rate: sourceFps || stream?.fps?.output || undefined,
  }
}

/** Returns undefined for text that is not a type of sources. */
const parseType = (text: string | undefined) => sourceType.safeParse(text).data

/**
 * Parses the protocol of a stream. It is RTSP by default. `tcp` and `udp` mean RTSP
 * over this transport.
 */
function parseProtocol(stream: Pick<StoredStream, 'protocol'> | null): {
  scheme: string
  transport: AddressObject['transport'] | undefined
} {
  const protocol = stream?.protocol.replace('://', '').toLowerCase() || 'rtsp'
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

  const hasOtherLogin =
    sub.username && (sub.username !== main.username || sub.password !== main.password)
  return { ...main, sub_url: hasOtherLogin ? addUserinfo(sub) : sub.url }
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
  const { address, port } = stream
  const { scheme } = parseProtocol(stream)
  const trimmed = address.trim()
  const isPath = trimmed.startsWith('/')
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed)
  if (trimmed === '' || isPath || isUrl) return trimmed

  const [, host = '', path = ''] = /^([^/?]*)(.*)$/.exec(trimmed) ?? []
  // Matches `camera:554` and `[::1]:554`.
  const hasPort = /^[^:]+:\d+$|\]:\d+$/.test(host)
  const isBareIpv6 = /^[\da-f]*:[\da-f:.]*$/i.test(host) && !hasPort
  const hostname = isBareIpv6 ? `[${host}]` : host
  const portSuffix = port && !hasPort ? `:${port}` : ''
  return `${scheme}://${hostname}${portSuffix}${path}`
}

/**
 * Moves the credentials of a URL to fields of their own, and adds the transport. Returns just the
 * URL if there are neither.
 */
function toAddress(
  url: string,
  stored: { username: string; password: string } | undefined,
  transport: AddressObject['transport'] | undefined,
): Address {
  // The user information ends at the last "@" before the path, since a password may contain "@".
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

/** Infers the type of a source from the scheme of its address. */
function inferType(url: string): SourceType {
  if (/^(?:rtsps?|https?):\/\//i.test(url) || parseVideoDevice(url)) return 'video'
  if (/^test:\/\//i.test(url)) return 'inf'
  if (/^inproc:\/\//i.test(url)) return 'zmqinternal'
  if (/^(?:tcp|ipc):\/\//i.test(url)) return 'zmq'
  return 'file'
}
