import { z } from 'zod'
import { syntaxError } from './parse.ts'

/** Replaces a password or token in responses. When a client sends it back, the stored secret is preserved. */
export const REDACTED = '***'

/**
 * Query parameters that carry a secret, such as `?user=admin&pwd=…`: many cameras expect their password there.
 * Groups: separator, parameter name, secret.
 */
export const querySecrets =
  /([?&])([^=&#]*(?:pass|pwd|token|secret|ticket|auth|signature|api_?key)[^=&#]*)=([^&#]*)/gi

/** The password in `scheme://user:password@host`. The last `@` of the authority ends it. */
const userinfoPassword = /^([a-z][a-z0-9+.-]*:\/\/[^/?#:@]*:)([^/?#]*)(@)/i

const urlString = z.string().min(1).max(4096)

/** A source address with credentials and transport options. */
export const addressObject = z
  .strictObject({
    url: urlString,
    username: z.string().max(256).optional(),
    password: z.string().max(1024).optional(),
    token: z
      .string()
      .regex(/^[\x21-\x7e]*$/, 'must contain only printable ASCII characters and no spaces')
      .max(8192)
      .optional(),
    transport: z.enum(['auto', 'tcp', 'udp']).optional(),
    latency_ms: z.int().min(0).max(60_000).optional(),
    tls_insecure: z.boolean().optional(),
  })
  .meta({ id: 'Address' })
export type AddressObject = z.infer<typeof addressObject>

export const address = z.union([urlString, addressObject])
export type Address = z.infer<typeof address>

/** An address in a merge patch; the merged address is validated as a whole. */
export const addressPatch = z.union([urlString, z.partialRecord(addressObject.keyof(), z.unknown())])

/**
 * The V4L2 device in an address such as `/dev/video0` or `v4l2:///dev/video0`, including the stable names under
 * `/dev/v4l/by-id` and `/dev/v4l/by-path`. Undefined for any other address.
 */
export function parseVideoDevice(url: string): string | undefined {
  return /^(?:v4l2:\/\/)?(\/dev\/(?:video\d+|v4l\/by-(?:id|path)\/[^/]+))$/.exec(url)?.[1]
}

/** Throws `EyrieError` (`syntax`) if a URL has invalid percent-encoding. Omits the URL, which may contain a secret. */
export function assertPercentEncoding(url: string): void {
  try {
    decodeURIComponent(url)
  } catch (cause) {
    throw syntaxError('', 'invalid percent-encoding: write %25 for a literal %', { cause })
  }
}

/** The part of an address that contains a secret. */
export type SecretLocation = { in: 'userinfo' | 'password' | 'token' } | { in: 'query'; name: string }

/** A copy of the address with every secret replaced by `REDACTED`. */
export const redactAddress = <Kind extends Address>(address: Kind): Kind =>
  mapSecrets(address, () => REDACTED)

/** A copy of the address in which `map` has replaced every secret. */
export function mapSecrets<Kind extends Address>(
  address: Kind,
  map: (secret: string, location: SecretLocation) => string,
): Kind {
  const url = getUrl(address)
    .replace(
      userinfoPassword,
      (_, before: string, secret: string, after: string) => before + map(secret, { in: 'userinfo' }) + after,
    )
    .replace(querySecrets, (_, separator: string, name: string, secret: string) => {
      return `${separator}${name}=${map(secret, { in: 'query', name })}`
    })
  if (typeof address === 'string') return url as Kind
  const mapped: AddressObject = { ...address, url }
  if (address.password !== undefined) mapped.password = map(address.password, { in: 'password' })
  if (address.token !== undefined) mapped.token = map(address.token, { in: 'token' })
  return mapped as Kind
}

/** The secret at a location of the address, or undefined if there is none. */
export function findSecret(address: Address, location: SecretLocation): string | undefined {
  if (location.in === 'userinfo') return userinfoPassword.exec(getUrl(address))?.[2]
  if (location.in === 'query')
    return [...getUrl(address).matchAll(querySecrets)].find(([, , name]) => name === location.name)?.[3]
  return typeof address === 'string' ? undefined : address[location.in]
}

const getUrl = (address: Address) => (typeof address === 'string' ? address : address.url)
