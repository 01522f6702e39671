import {
  type Address,
  type AddressObject,
  parseVideoDevice,
  type SourceType,
  sourceType,
} from '@eyrie/contract'

/** A stored source with the stream of its device. */
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
  /** Plain text. */
  password: string
  fps: { output?: number | undefined } | null | undefined
}

/** The fields of a source on the engine. */
export interface SourceFields {
  type: SourceType
  address: Address
  /** Frames per second; undefined: all. */
  rate: number | undefined
}

/**
 * Translates a stored source into the engine's fields. `source_address` takes precedence over the address of the stream. A
 * stream's address is a URL or a host; a host is combined with the stream's port and protocol: RTSP by default, and `tcp`
 * and `udp` mean RTSP over that transport. Credentials in the URL take precedence over those of the stream. Returns
 * undefined when there is no address.
 */
export function toSourceFields({
  source_type,
  source_address,
  source_fps,
  stream,
}: StoredSource): SourceFields | undefined {
  const protocol = stream?.protocol.replace('://', '').toLowerCase() ?? ''
  const transport = protocol === 'tcp' || protocol === 'udp' ? protocol : undefined
  const scheme = transport ? 'rtsp' : protocol || 'rtsp'
  const url = source_address.trim() || (stream && toStreamUrl(stream, scheme))
  if (!url) return undefined
  const configuredType = sourceType.safeParse(source_type).data ?? sourceType.safeParse(stream?.type).data
  return {
    type: configuredType ?? inferType(url),
    address: toAddress(url, stream, transport),
    rate: source_fps || stream?.fps?.output || undefined,
  }
}

function toStreamUrl({ address, port }: StoredStream, scheme: string): string {
  const trimmed = address.trim()
  const isPath = trimmed.startsWith('/')
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed)
  if (trimmed === '' || isPath || isUrl) return trimmed
  const [, host = '', path = ''] = /^([^/?]*)(.*)$/.exec(trimmed) ?? []
  const hasPort = /^[^:]+:\d+$|\]:\d+$/.test(host)
  const isBareIpv6 = /^[\da-f]*:[\da-f:.]*$/i.test(host) && !hasPort
  const authority = isBareIpv6 ? `[${host}]` : host
  return `${scheme}://${authority}${port && !hasPort ? `:${port}` : ''}${path}`
}

function toAddress(
  url: string,
  stream: StoredStream | null,
  transport: AddressObject['transport'] | undefined,
): Address {
  // Greedy: a password may contain "@", so the last one of the authority ends it.
  const [, scheme = '', userinfo, rest = ''] =
    /^((?:rtsps?|https?):\/\/)(?:([^/?#]*)@)?(.*)$/i.exec(url) ?? []
  if (!scheme) return url
  const { username, password } =
    userinfo === undefined
      ? { username: stream?.username ?? '', password: stream?.password ?? '' }
      : parseUserinfo(userinfo)
  const address: AddressObject = {
    url: scheme + rest,
    ...(username && { username }),
    ...(password && { password }),
    ...(transport && { transport }),
  }
  return Object.keys(address).length > 1 ? address : address.url
}

function parseUserinfo(userinfo: string): { username: string; password: string } {
  const [username = '', ...password] = userinfo.split(':')
  return { username: decodePercent(username), password: decodePercent(password.join(':')) }
}

/** Returns text with invalid escapes unchanged. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function inferType(url: string): SourceType {
  if (/^(?:rtsps?|https?):\/\//i.test(url) || parseVideoDevice(url)) return 'video'
  if (/^test:\/\//i.test(url)) return 'inf'
  if (/^inproc:\/\//i.test(url)) return 'zmqinternal'
  if (/^(?:tcp|ipc):\/\//i.test(url)) return 'zmq'
  return 'file'
}
