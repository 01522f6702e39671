import { createHash, randomBytes } from 'node:crypto'
import { escapeXml } from './xml.ts'

export interface Login {
  username: string
  password: string
}

const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss'
const DIGEST = `${WSS}-username-token-profile-1.0#PasswordDigest`

/**
 * A header that proves the password without saying it: WS-Security's UsernameToken with a digest (OASIS, Username Token
 * Profile 1.1, section 3.1). `now`, in ms since 1970, is the device's time, since it refuses tokens of another.
 */
export function usernameToken({ username, password }: Login, now: number, nonce = randomBytes(16)): string {
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

/** The answer to a challenge of HTTP's Digest (RFC 7616); undefined where it asks for anything else. */
export function digestAuthorization(
  challenge: string,
  request: { method: string; path: string },
  { username, password }: Login,
): string | undefined {
  if (!/^Digest /i.test(challenge)) return undefined
  const field = (name: string) => new RegExp(`[ ,]${name}="?([^",]+)`, 'i').exec(challenge)?.[1]
  const algorithm = field('algorithm') ?? 'MD5'
  const hashName = { md5: 'md5', 'sha-256': 'sha256' }[algorithm.toLowerCase()]
  const [realm = '', nonce = '', opaque] = ['realm', 'nonce', 'opaque'].map(field)
  if (!hashName) return undefined
  const hash = (...parts: string[]) => createHash(hashName).update(parts.join(':')).digest('hex')
  const secret = hash(username, realm, password)
  const asked = hash(request.method, request.path)
  const qop = /qop="?[^"]*\bauth\b/i.test(challenge)
  const cnonce = randomBytes(8).toString('hex')
  const response = qop ? hash(secret, nonce, '00000001', cnonce, 'auth', asked) : hash(secret, nonce, asked)
  const said = [
    `username="${username.replace(/["\\]/g, '\\$&')}", realm="${realm}", nonce="${nonce}", uri="${request.path}"`,
    `response="${response}", algorithm=${algorithm}`,
    ...(opaque ? [`opaque="${opaque}"`] : []),
    ...(qop ? [`qop=auth, nc=00000001, cnonce="${cnonce}"`] : []),
  ]
  return `Digest ${said.join(', ')}`
}
