import {
  createCipheriv,
  createECDH,
  createPrivateKey,
  hkdfSync,
  type JsonWebKey,
  randomBytes,
  sign,
} from 'node:crypto'

/** Where a browser receives messages, and the keys with which they are encrypted for it, in base64url. */
export interface PushReceiver {
  endpoint: string
  p256dh: string
  auth: string
}

const CURVE = 'prime256v1'
/** The record size. A message is one record, which push services limit to 4096 bytes (RFC 8291, section 4). */
const RECORD_BYTES = 4096
const LAST_RECORD = 2
/** The longest period that push services accept is a day (RFC 8292, section 2). */
const TOKEN_LIFETIME_S = 12 * 3600

/** Encrypts a message so that only the browser can read it, not the push service (RFC 8291, content encoding aes128gcm). */
export function encryptForBrowser({ p256dh, auth }: PushReceiver, message: string): Buffer {
  const browserKey = Buffer.from(p256dh, 'base64url')
  const sender = createECDH(CURVE)
  const senderKey = sender.generateKeys()
  const shared = sender.computeSecret(browserKey)
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), browserKey, senderKey])
  const inputKey = Buffer.from(hkdfSync('sha256', shared, Buffer.from(auth, 'base64url'), info, 32))

  const salt = randomBytes(16)
  const derive = (name: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', inputKey, salt, `Content-Encoding: ${name}\0`, bytes))
  const cipher = createCipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12))
  const plain = Buffer.concat([Buffer.from(message), Buffer.of(LAST_RECORD)])

  const sizes = Buffer.alloc(5)
  sizes.writeUInt32BE(RECORD_BYTES)
  sizes.writeUInt8(senderKey.length, 4)
  return Buffer.concat([salt, sizes, senderKey, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Creates the value of `Authorization` by which a push service recognizes this appliance (VAPID, RFC 8292). */
export function createVapidAuthorization(
  endpoint: URL,
  key: JsonWebKey,
  publicUrl: string | undefined,
  now: Date,
): string {
  const claims = {
    aud: endpoint.origin,
    exp: Math.floor(now.getTime() / 1000) + TOKEN_LIFETIME_S,
    // Where the operator of the push service finds the operator of the appliance.
    ...(publicUrl?.startsWith('https:') && { sub: publicUrl }),
  }
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${encode({ typ: 'JWT', alg: 'ES256' })}.${encode(claims)}`
  const privateKey = createPrivateKey({ key, format: 'jwk' })
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `vapid t=${signed}.${signature.toString('base64url')}, k=${toPublicKey(key)}`
}

/** The public key as an uncompressed point, as browsers expect it. */
const toPublicKey = ({ x = '', y = '' }: JsonWebKey) =>
  Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]).toString(
    'base64url',
  )
