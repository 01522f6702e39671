import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { secretFile } from './secret-file.ts'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Says how the rest is made, for the day on which it is made otherwise. */
const PREFIX = 'sealed1:'

/** Keeps secrets in the database so that a copy of it alone tells none of them. */
export interface Secrets {
  /** Nothing (`''`) stays nothing. */
  seal(text: string): string
  /** Throws an Error where it was sealed with another key, or has been changed. */
  open(sealed: string): string
}

/** The key is made on first use: a file in the folder of the appliance's secrets, which its owner alone reads. */
export function readSecrets(data: string): Secrets {
  const file = join(data, 'secrets', 'management-key')
  const key = Buffer.from(secretFile(file, newKey), 'base64')
  if (key.length !== KEY_BYTES)
    throw new Error(
      `${file} is damaged: restore it from a backup, for what it has sealed opens with nothing else`,
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
          `a secret does not open with the key in ${file}: restore that file, or set the secret anew`,
          {
            cause,
          },
        )
      }
    },
  }
}

const newKey = () => randomBytes(KEY_BYTES).toString('base64')

function decipher(sealed: string, key: Buffer): string {
  if (!sealed.startsWith(PREFIX)) throw new Error('it is not sealed')
  const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64url')
  const end = bytes.length - TAG_BYTES
  const cipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  cipher.setAuthTag(bytes.subarray(end))
  return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES, end)), cipher.final()]).toString('utf8')
}
