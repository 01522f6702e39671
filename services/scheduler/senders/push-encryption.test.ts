import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createVapidAuthorization, encryptForBrowser } from './push-encryption.ts'

describe('the token for a push service', () => {
  it('is valid for this service and half a day, and names the operator only by an address with TLS', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const key = privateKey.export({ format: 'jwk' })
    const now = new Date('2026-03-04T12:00:00Z')
    const endpoint = new URL('https://push.example:8443/send/secret')
    const authorization = createVapidAuthorization({
      endpoint,
      key,
      publicUrl: 'http://eyrie.local',
      now,
    })
    const [, head = '', claims = '', signature = ''] =
      /t=([\w-]+)\.([\w-]+)\.([\w-]+),/.exec(authorization) ?? []
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
      aud: 'https://push.example:8443',
      exp: now.getTime() / 1000 + 43_200,
    })
    const publicKey = { key: createPublicKey(privateKey), dsaEncoding: 'ieee-p1363' as const }
    const signed = Buffer.from(`${head}.${claims}`)
    expect(verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url'))).toBe(true)
  })
})

describe('a message for a browser', () => {
  it('is one record after the header that names the salt, the record size and the key', () => {
    // The keys of the example in RFC 8291, section 5.
    const receiver = {
      endpoint: 'https://push.example/',
      p256dh:
        'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    }
    const encrypted = encryptForBrowser(receiver, 'When I grow up, I want to be a watermelon')
    // As long as the example, which is 144 bytes.
    expect(encrypted.length).toBe(144)
    expect(encrypted.readUInt32BE(16)).toBe(4096)
    expect(encrypted.subarray(20, 22)).toEqual(Buffer.of(65, 4))
  })
})
