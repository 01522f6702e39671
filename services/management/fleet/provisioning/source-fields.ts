import {
  type Address,
  type AddressObject,
  parseVideoDevice,
  type SourceType,
  sourceType,
} from '@eyrie/contract'

/** A stored source, with the stream of the device that it plays. */
export interface StoredSource {
  source_type: string
  source_address: string
  source_fps: number | null
  stream: StoredStream | null
}

export interface StoredStream {
  type: string
  address: string
  protocol: string
  port: number | null
  username: string
  /** In plain text. */
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
 * Translates a stored source into the fields of a source on the engine. Returns undefined if the source has no address.
 *
 * `source_address` takes precedence over the address of the stream. The address of a stream is a URL or a host. A host is
 * combined with the stream's port and protocol. The protocol is RTSP by default; `tcp` and `udp` mean RTSP over this
 * transport. Credentials in the URL take precedence over the credentials of the stream.
 */
export function toSourceFields({
  source_type,
  source_address,
  source_fps,
  stream,
}: StoredSource): SourceFields | undefined {
  const protocol = stream?.protocol.replace('://', '').toLowerCase() || 'rtsp'
  const transport = protocol === 'tcp' || protocol === 'udp' ? protocol : undefined
  const scheme = transport ? 'rtsp' : protocol

  const url = source_address.trim() || (stream && toStreamUrl(stream, scheme))
  if (!url) return undefined

  return {
    type: parseType(source_type) ?? parseType(stream?.type) ?? inferType(url),
    address: toAddress(url, stream, transport),
    rate: source_fps || stream?.fps?.output || undefined,
  }
}

/** Returns undefined for text that is not a type of sources. */
const parseType = (text: string | undefined) => sourceType.safeParse(text).data

/** Returns the address of a stream as a URL. An address that is already a URL or a path is returned unchanged. */
function toStreamUrl({ address, port }: StoredStream, scheme: string): string {
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

/** Splits the credentials and the transport off a URL. Returns the URL alone if it has none. */
function toAddress(
  url: string,
  stream: StoredStream | null,
  transport: AddressObject['transport'] | undefined,
): Address {
  // The user information ends at the last "@" before the path, since a password may contain "@".
  const [, scheme = '', userinfo, hostAndPath = ''] =
    /^((?:rtsps?|https?):\/\/)(?:([^/?#]*)@)?(.*)$/i.exec(url) ?? []
  if (!scheme) return url

  const credentials = userinfo === undefined ? stream : parseUserinfo(userinfo)
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
