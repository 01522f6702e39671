import {
  createCipheriv,
  createECDH,
  createPrivateKey,
  hkdfSync,
  type JsonWebKey,
  randomBytes,
  sign,
} from 'node:crypto'

/**
 * A browser that receives messages. Its keys are in base64url (W3C Push API, `PushSubscription`).
 */
export interface PushReceiver {
  /** URL of the push service. */
  endpoint: string
  /** The browser's public key on the curve P-256. */
  p256dh: string
  /** A secret that the browser shares with this appliance. */
  auth: string
}

/** P-256, by its name in OpenSSL. */
const CURVE = 'prime256v1'
/** First byte of a point whose two coordinates follow (SEC 1, section 2.3.3). */
const UNCOMPRESSED_POINT = 4
/** A message is a single record, which push services limit to 4096 bytes (RFC 8291, section 4). */
const RECORD_BYTES = 4096
/** Delimiter at the end of the last record (RFC 8188, section 2). */
const LAST_RECORD = 2
/** Size of the key from which the key and nonce of the record are derived. */
const INPUT_KEY_BYTES = 32
const KEY_BYTES = 16
const NONCE_BYTES = 12
const SALT_BYTES = 16
/** Half of the maximum that push services accept, which is a day (RFC 8292, section 2). */
const TOKEN_LIFETIME_S = 12 * 3600

/**
 * Encrypts a message so that only the browser can read it, not the push service (RFC 8291,
 * content encoding aes128gcm). The result consists of a header with the salt and the sender's
 * public key, and one record.
 */
export function encryptForBrowser({ p256dh, auth }: PushReceiver, message: string): Buffer {
  const browserKey = Buffer.from(p256dh, 'base64url')
  const sender = createECDH(CURVE)
  const senderKey = sender.generateKeys()
  const sharedSecret = sender.computeSecret(browserKey)
  const keyInfo = Buffer.concat([Buffer.from('WebPush: info\0'), browserKey, senderKey])
  const inputKey = deriveKey(sharedSecret, Buffer.from(auth, 'base64url'), keyInfo, INPUT_KEY_BYTES)

  const salt = randomBytes(SALT_BYTES)
  const key = deriveKey(inputKey, salt, 'Content-Encoding: aes128gcm\0', KEY_BYTES)
  const nonce = deriveKey(inputKey, salt, 'Content-Encoding: nonce\0', NONCE_BYTES)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  const plain = Buffer.concat([Buffer.from(message), Buffer.of(LAST_RECORD)])
  const record = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])

  // The size of a record in four bytes, and the length of the key in one.
  const sizes = Buffer.alloc(5)
  sizes.writeUInt32BE(RECORD_BYTES)
  sizes.writeUInt8(senderKey.length, 4)
  return Buffer.concat([salt, sizes, senderKey, record])
}

/** Derives a key of `bytes` bytes with HKDF (RFC 5869). */
function deriveKey(inputKey: Buffer, salt: Buffer, info: string | Buffer, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', inputKey, salt, info, bytes))
}

export interface VapidOptions {
  /** URL of the push service. */
  endpoint: URL
  /** The private key of this appliance. */
  key: JsonWebKey
  /** Address of the console, as the contact of the appliance's operator. */
  publicUrl: string | undefined
  now: Date
}

/**
 * Creates the `Authorization` header by which a push service recognizes this appliance (VAPID, RFC
 * 8292): a signed token, and the public key to verify it.
 */
export function createVapidAuthorization(options: VapidOptions): string {
  const { endpoint, key, publicUrl, now } = options
  const claims = {
    aud: endpoint.origin,
    exp: Math.floor(now.getTime() / 1000) + TOKEN_LIFETIME_S,
    // The operator of the push service contacts the operator of the appliance there.
    ...(publicUrl?.startsWith('https:') && { sub: publicUrl }),
  }
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${encode({ typ: 'JWT', alg: 'ES256' })}.${encode(claims)}`
  const privateKey = createPrivateKey({ key, format: 'jwk' })
  const signature = sign('sha256', Buffer.from(signed), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363',
  })
  return `vapid t=${signed}.${signature.toString('base64url')}, k=${toPublicKey(key)}`
}

/** Returns the public key as browsers expect it: an uncompressed point, in base64url. */
function toPublicKey({ x = '', y = '' }: JsonWebKey): string {
  const prefix = Buffer.of(UNCOMPRESSED_POINT)
  const point = [prefix, Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]
  return Buffer.concat(point).toString('base64url')
}
