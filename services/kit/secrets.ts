import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { readOrCreateSecret } from './secret-file.ts'

/**
 * Encrypts stored secrets, so that a copy of the database or of a configuration file alone
 * does not reveal them.
 */
export interface Secrets {
  /** Returns the encrypted text; the empty string remains empty. */
  encrypt(text: string): string
  /** Throws if the text was encrypted with another key or has been altered. */
  decrypt(encrypted: string): string
}

/**
 * Names the version of the format: `sealed1:` and base64url of nonce, ciphertext and authentication
 * tag.
 */
export const ENCRYPTED_PREFIX = 'sealed1:'
const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Whether a text has the form of an encrypted text. */
export const isEncrypted = (text: string): boolean => text.startsWith(ENCRYPTED_PREFIX)

/** Loads an encryption key from its file. The first call creates the key. */
export function loadSecrets(file: string): Secrets {
  const key = Buffer.from(readOrCreateSecret(file, generateKey), 'base64')
  if (key.length !== KEY_BYTES) {
    throw new Error(
      `${file} is damaged: restore it from a backup, because secrets cannot be decrypted without it`,
    )
  }

  return {
    encrypt: text => (text === '' ? '' : encrypt(text, key)),
    decrypt(encrypted) {
      if (encrypted === '') return ''
      try {
        return decrypt(encrypted, key)
      } catch (cause) {
        throw new Error(
          `a secret cannot be decrypted with the key in ${file}: restore that file, or set the secret again`,
          { cause },
        )
      }
    },
  }
}

const generateKey = () => randomBytes(KEY_BYTES).toString('base64')

function encrypt(text: string, key: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce)
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return (
    ENCRYPTED_PREFIX + Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]).toString('base64url')
  )
}

function decrypt(encrypted: string, key: Buffer): string {
  if (!isEncrypted(encrypted)) throw new Error('the text is not encrypted')
  const bytes = Buffer.from(encrypted.slice(ENCRYPTED_PREFIX.length), 'base64url')
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const ciphertext = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8')
}
