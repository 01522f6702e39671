import { createHash, randomBytes } from 'node:crypto'
import { escapeXml } from './xml.ts'

/** The credentials of a device, for WS-Security in SOAP messages and for HTTP Digest. */
export interface Login {
  username: string
  password: string
}

/** Number of requests with the server's nonce. Each request uses a new nonce. */
const NONCE_COUNT = '00000001'

/** Names in Node.js of the hash functions, by the algorithm of an HTTP Digest challenge. */
const DIGEST_HASHES: Record<string, string> = { md5: 'md5', 'sha-256': 'sha256' }

// XML namespaces of WS-Security.
const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss'
const DIGEST = `${WSS}-username-token-profile-1.0#PasswordDigest`

/**
 * Returns a WS-Security header with a UsernameToken that contains a digest of the password (OASIS
 * Username Token Profile 1.1, section 3.1). `now` is the time of the device, in ms since 1970;
 * devices reject tokens with another time.
 */
export function createUsernameToken({ username, password }: Login, now: number): string {
  const nonce = randomBytes(16)
  const created = new Date(now).toISOString()
  const digest = createHash('sha1').update(nonce).update(created).update(password).digest('base64')
  return [
    `<Security xmlns="${WSS}-wssecurity-secext-1.0.xsd" s:mustUnderstand="1"><UsernameToken>`,
    `<Username>${escapeXml(username)}</Username>`,
    `<Password Type="${DIGEST}">${digest}</Password>`,
    `<Nonce EncodingType="${WSS}-soap-message-security-1.0#Base64Binary">${nonce.toString('base64')}</Nonce>`,
    `<Created xmlns="${WSS}-wssecurity-utility-1.0.xsd">${created}</Created>`,
    '</UsernameToken></Security>',
  ].join('')
}

/**
 * Returns the Authorization header for an HTTP Digest challenge (RFC 7616); undefined if
 * it is not supported.
 */
export function createDigestAuthorization(
  challenge: string,
  request: { method: string; path: string },
  { username, password }: Login,
): string | undefined {
  if (!/^Digest /i.test(challenge)) return undefined
  const algorithm = findParameter(challenge, 'algorithm') ?? 'MD5'
  const hashName = DIGEST_HASHES[algorithm.toLowerCase()]
  if (!hashName) return undefined

  const realm = findParameter(challenge, 'realm') ?? ''
  const nonce = findParameter(challenge, 'nonce') ?? ''
  const opaque = findParameter(challenge, 'opaque')
  // The quality of protection is a list such as `qop="auth,auth-int"`. Old servers have none.
  const hasQop = /qop="?[^"]*\bauth\b/i.test(challenge)
  const cnonce = randomBytes(8).toString('hex')

  const hash = (...parts: string[]) => createHash(hashName).update(parts.join(':')).digest('hex')

  // A1 and A2 are the terms of RFC 7616, section 3.4.
  const hashedA1 = hash(username, realm, password)
  const hashedA2 = hash(request.method, request.path)
  const response = hasQop
    ? hash(hashedA1, nonce, NONCE_COUNT, cnonce, 'auth', hashedA2)
    : hash(hashedA1, nonce, hashedA2)

  const fields = [
    `username="${username.replace(/["\\]/g, '\\$&')}"`,
    `realm="${realm}"`,
    `nonce="${nonce}"`,
    `uri="${request.path}"`,
    `response="${response}"`,
    `algorithm=${algorithm}`,
  ]
  if (opaque) fields.push(`opaque="${opaque}"`)
  if (hasQop) fields.push('qop=auth', `nc=${NONCE_COUNT}`, `cnonce="${cnonce}"`)
  return `Digest ${fields.join(', ')}`
}

/** Returns the value of a parameter, which may be quoted, such as `realm="camera"`. */
const findParameter = (challenge: string, name: string) =>
  new RegExp(`[ ,]${name}="?([^",]+)`, 'i').exec(challenge)?.[1]
