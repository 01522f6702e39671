import { z } from 'zod'
import { syntaxError } from './parse.ts'

/**
 * Addresses of sources, such as the URL of a camera with its user name and password. The functions
 * below find and replace the secrets in an address.
 */

/**
 * Placeholder for a secret in responses. If a client sends the placeholder back, the stored
 * secret is preserved.
 */
export const REDACTED = '***'

/**
 * Query parameters that contain a secret, such as `?user=admin&pwd=…`, where many cameras expect
 * their password. Groups: separator, parameter name, secret.
 */
export const QUERY_SECRETS =
  /([?&])([^=&#]*(?:pass|pwd|token|secret|ticket|auth|signature|api_?key)[^=&#]*)=([^&#]*)/gi

/**
 * The password in `scheme://user:password@host`, which may itself contain `@`. Groups: text
 * before, password, `@`.
 */
const USERINFO_PASSWORD = /^([a-z][a-z0-9+.-]*:\/\/[^/?#:@]*:)([^/?#]*)(@)/i

const urlString = z.string().min(1).max(4096)

/**
 * A source address with credentials and transport options, which apply to the main
 * and to the sub stream.
 */
export const addressObject = z
  .strictObject({
    url: urlString,
    sub_url: urlString.optional().meta({
      description:
        'URL of a smaller stream of the same camera, for the analysis and small live views. username and password apply to it only if its server is that of url, and it contains no credentials itself',
    }),
    username: z.string().max(256).optional(),
    password: z.string().max(1024).optional(),
    token: z
      .string()
      .regex(/^[\x21-\x7e]*$/, 'must contain only printable ASCII characters and no spaces')
      .max(8192)
      .optional()
      .meta({ description: 'HTTP: sent as Authorization: Bearer' }),
    transport: z
      .enum(['auto', 'tcp', 'udp'])
      .optional()
      .meta({ description: 'RTSP; auto, the default: UDP first, and TCP if nothing arrives' }),
    latency_ms: z.int().min(0).max(60_000).optional().meta({
      description: 'RTSP: how long to wait for late packets in milliseconds. Default: 200',
    }),
    tls_insecure: z
      .boolean()
      .optional()
      .meta({ description: 'Whether any certificate of the camera is accepted' }),
  })
  .meta({ id: 'Address' })
export type AddressObject = z.infer<typeof addressObject>

/** An address is a URL, or an object with the URL. */
export const address = z.union([urlString, addressObject])
export type Address = z.infer<typeof address>

/** An address in a merge patch (RFC 7386). The merged address is validated as a whole. */
export const addressPatch = z.union([
  urlString,
  z.partialRecord(addressObject.keyof(), z.unknown()),
])

/**
 * Returns the path of the V4L2 device in an address such as `/dev/video0` or
 * `v4l2:///dev/video0`, including the stable names under `/dev/v4l/by-id` and `/dev/v4l/by-path`.
 * Returns undefined for any other address.
 */
export function parseVideoDevice(url: string): string | undefined {
  const [, devicePath] = VIDEO_DEVICE.exec(url) ?? []
  return devicePath
}

const VIDEO_DEVICE = /^(?:v4l2:\/\/)?(\/dev\/(?:video\d+|v4l\/by-(?:id|path)\/[^/]+))$/

/**
 * Throws `EyrieError` (`syntax`) if the percent-encoding is invalid. The error omits the URL, which
 * may contain a secret.
 */
export function assertPercentEncoding(url: string): void {
  try {
    decodeURIComponent(url)
  } catch (cause) {
    throw syntaxError('', 'invalid percent-encoding: write %25 for a literal %', { cause })
  }
}

/** The fields of an address that are URLs. */
type UrlField = 'url' | 'sub_url'

/**
 * Where an address contains a secret: in one of its URLs (`userinfo`, `query`), or
 * in a field of its own.
 */
export type SecretLocation =
  | { in: 'password' | 'token' }
  | { in: 'userinfo'; field: UrlField }
  | { in: 'query'; field: UrlField; name: string }

/** Returns a copy of the address with every secret replaced by `REDACTED`. */
export const redactAddress = <Kind extends Address>(address: Kind): Kind =>
  mapSecrets(address, () => REDACTED)

/** Returns the replacement of a secret. */
type MapSecret = (secret: string, location: SecretLocation) => string

/** Returns a copy of the address with every secret replaced by the result of `map`. */
export function mapSecrets<Kind extends Address>(address: Kind, map: MapSecret): Kind {
  // The casts are safe: the copy has the form of the address.
  if (typeof address === 'string') return mapUrlSecrets(address, 'url', map) as Kind

  const mapped: AddressObject = { ...address, url: mapUrlSecrets(address.url, 'url', map) }
  if (address.sub_url !== undefined) mapped.sub_url = mapUrlSecrets(address.sub_url, 'sub_url', map)
  if (address.password !== undefined) mapped.password = map(address.password, { in: 'password' })
  if (address.token !== undefined) mapped.token = map(address.token, { in: 'token' })
  return mapped as Kind
}

function mapUrlSecrets(url: string, field: UrlField, map: MapSecret): string {
  const mapPassword = (_: string, before: string, password: string, after: string) =>
    before + map(password, { in: 'userinfo', field }) + after

  const mapParameter = (_: string, separator: string, name: string, secret: string) => {
    const replacement = map(secret, { in: 'query', field, name })
    return `${separator}${name}=${replacement}`
  }

  return url.replace(USERINFO_PASSWORD, mapPassword).replace(QUERY_SECRETS, mapParameter)
}

/**
 * Returns the secret at a location of the address, or undefined if the address has no secret there.
 */
export function findSecret(address: Address, location: SecretLocation): string | undefined {
  const fields = toAddressObject(address)
  switch (location.in) {
    case 'userinfo': {
      const [, , password] = USERINFO_PASSWORD.exec(fields[location.field] ?? '') ?? []
      return password
    }
    case 'query':
      for (const [, , name, secret] of (fields[location.field] ?? '').matchAll(QUERY_SECRETS)) {
        if (name === location.name) return secret
      }
      return undefined
    default:
      return fields[location.in]
  }
}

/**
 * Scheme, host and port of a URL that every parser reads in the same way: at most one `@`, and no
 * backslash, space or control character in the authority. Groups: scheme, host, port.
 */
const SERVER =
  /^([a-z][a-z0-9+.-]*):\/\/(?:[^\s\p{Cc}\\/?#@]*@)?([^\s\p{Cc}\\/?#@:[\]]+|\[[^\s\p{Cc}\\/?#@[\]]+\])(?::(\d*))?(?=[/?#]|$)/iu

const DEFAULT_PORTS: Record<string, string> = {
  http: '80',
  https: '443',
  rtsp: '554',
  rtsps: '322',
  postgres: '5432',
  postgresql: '5432',
}

/**
 * Returns scheme, host and port of a URL, or undefined if it has no host or parsers could
 * disagree about the host.
 */
function findServer(url: string): string | undefined {
  const [, scheme = '', host = '', port] = SERVER.exec(url)?.map(part => part?.toLowerCase()) ?? []
  return host ? `${scheme}://${host}:${port || DEFAULT_PORTS[scheme] || ''}` : undefined
}

/**
 * Whether the secrets of a stored URL may be sent to the server of another URL: scheme,
 * host and port are equal.
 */
export function hasSameServer(url: string, storedUrl: string): boolean {
  const hiddenUrl = redactAddress(storedUrl)
  if (url === storedUrl || url === hiddenUrl) return true
  const server = findServer(url)
  return server !== undefined && server === findServer(hiddenUrl)
}

/**
 * Whether the secret of the stored address at this location may replace the `***` in the new
 * address. Scheme, host and port must be unchanged: otherwise, an editor of the address could have
 * the secret sent to another server. A secret in a field of its own is sent to all URLs of an
 * address.
 */
export function mayKeepSecret(
  address: Address,
  stored: Address,
  location: SecretLocation,
): boolean {
  const storedUrls = listReceivers(stored, location)
  return listReceivers(address, location).every(url =>
    storedUrls.some(storedUrl => hasSameServer(url, storedUrl)),
  )
}

/** Returns the URLs to whose servers the secret at a location is sent. */
function listReceivers(address: Address, location: SecretLocation): string[] {
  const { url, sub_url: subUrl } = toAddressObject(address)
  const urls = 'field' in location ? [{ url, sub_url: subUrl }[location.field]] : [url, subUrl]
  return urls.filter(receiver => receiver !== undefined)
}

/** Returns an address in its long form. */
export const toAddressObject = (address: Address): AddressObject =>
  typeof address === 'string' ? { url: address } : address
