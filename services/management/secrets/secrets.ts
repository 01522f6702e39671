import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readOrCreateSecret } from './secret-file.ts'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Version of the format. */
const PREFIX = 'sealed1:'

/** Encrypts secrets for the database, so that a copy of the database alone does not reveal them. */
export interface Secrets {
  /** Returns `''` for `''`. */
  seal(text: string): string
  /** Throws if the text was sealed with another key or has been altered. */
  open(sealed: string): string
}

/** Loads the encryption key from the appliance's secrets. Creates it, readable by its owner only, on first use. */
export function loadSecrets(data: string): Secrets {
  const file = join(data, 'secrets', 'management-key')
  const key = Buffer.from(readOrCreateSecret(file, generateKey), 'base64')
  if (key.length !== KEY_BYTES)
    throw new Error(
      `${file} is damaged: restore it from a backup, because secrets cannot be decrypted without it`,
    )

  return {
    seal(text) {
      if (text === '') return ''
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, key, nonce)
      const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return PREFIX + Buffer.concat(parts).toString('base64url')
    },

    open(sealed) {
      if (sealed === '') return ''
      try {
        return decipher(sealed, key)
      } catch (cause) {
        throw new Error(
          `a secret cannot be decrypted with the key in ${file}: restore that file, or set the secret again`,
          {
            cause,
          },
        )
      }
    },
  }
}

const generateKey = () => randomBytes(KEY_BYTES).toString('base64')

function decipher(sealed: string, key: Buffer): string {
  if (!sealed.startsWith(PREFIX)) throw new Error('the text is not sealed')
  const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64url')
  const end = bytes.length - TAG_BYTES
  const cipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  cipher.setAuthTag(bytes.subarray(end))
  return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES, end)), cipher.final()]).toString('utf8')
}
