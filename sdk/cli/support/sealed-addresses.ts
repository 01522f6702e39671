import { createDecipheriv } from 'node:crypto'

/**
 * Encrypted texts in the configuration file of the engine: `sealed1:` and base64url of nonce,
 * ciphertext and tag (AES-256-GCM).
 */
const SEALED = /"sealed1:([\w-]+)"/g
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Replaces the encrypted addresses in a configuration file by their JSON, so that their
 * secrets can be found and redacted. What the key cannot decrypt remains unchanged. `key`: the
 * content of the key file.
 */
export function unsealAddresses(configuration: string, key: string): string {
  return configuration.replace(SEALED, (sealed, encoded: string) => {
    try {
      return decrypt(Buffer.from(encoded, 'base64url'), Buffer.from(key, 'base64'))
    } catch {
      return sealed
    }
  })
}

function decrypt(bytes: Buffer, key: Buffer): string {
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  return (
    decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') +
    decipher.final('utf8')
  )
}
