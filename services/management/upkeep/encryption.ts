import {
  createCipheriv,
  createDecipheriv,
  randomBytes,
  type ScryptOptions,
  scrypt,
} from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Transform } from 'node:stream'
import { ENCRYPTED_BACKUP_MAGIC } from '@eyrie/contract/backup'

// Encrypts backups with a passphrase, as a stream of any length. An encrypted backup is
// a header and chunks:
//
// - Header: magic with the version (8 bytes), log2 N, r and p of scrypt, a zero (1 byte
//   each), salt (16 bytes).
// - Chunks: 64 KiB of plaintext each, only the last one may be shorter, encrypted with AES-256-GCM.
//   Each is followed by its tag.
//
// The key is derived from passphrase and salt with scrypt (RFC 7914), and is used for this file
// only. The chunks follow the STREAM construction (Hoang, Reyhanitabar, Rogaway and Vizár 2015,
// https://eprint.iacr.org/2015/189): the nonce is the number of the chunk (11 bytes, big-endian)
// and whether it is the last one (1 byte), so chunks can be neither reordered nor removed. Each
// chunk also authenticates the header. Decryption passes on only what has been authenticated.

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SALT_BYTES = 16
const CHUNK_BYTES = 64 * 1024

const MAGIC = Buffer.from(ENCRYPTED_BACKUP_MAGIC, 'latin1')
const HEADER_BYTES = MAGIC.length + 4 + SALT_BYTES

/** Needs 128 MiB of memory (128 · N · r) and about half a second. */
const COST = { logN: 17, r: 8, p: 1 }
/**
 * Maximum cost that is accepted from a file. Its header is read before it can be authenticated, so
 * it may have been altered.
 */
const MAX_COST = { logN: 18, r: 8, p: 4 }
/** Twice the memory that scrypt needs at the maximum cost. */
const MAX_MEMORY_BYTES = 2 * 128 * 2 ** MAX_COST.logN * MAX_COST.r

/** Encrypts or decrypts a chunk. `number` counts the chunks from 0. */
type ChunkCipher = (chunk: Buffer, number: number, isLast: boolean) => Buffer

/** Creates a stream that encrypts what is written to it. Tests pass a lower cost. */
export async function createEncryptor(
  passphrase: string,
  { logN, r, p } = COST,
): Promise<Transform> {
  const header = Buffer.concat([MAGIC, Buffer.of(logN, r, p, 0), randomBytes(SALT_BYTES)])
  const key = await deriveKey(passphrase, header)

  const encrypt: ChunkCipher = (chunk, number, isLast) => {
    const cipher = createCipheriv(CIPHER, key, createNonce(number, isLast)).setAAD(header)
    return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()])
  }
  const encryptor = createChunkTransform(CHUNK_BYTES, encrypt)
  encryptor.push(header)
  return encryptor
}

/** Returns the header of an encrypted backup, or undefined if the file is not encrypted. */
export async function readEncryptionHeader(path: string): Promise<Buffer | undefined> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0)
    const header = buffer.subarray(0, bytesRead)
    return header.subarray(0, MAGIC.length).equals(MAGIC) ? header : undefined
  } finally {
    await file.close()
  }
}

/**
 * Returns two streams for a pipeline: the first reads the encrypted chunks of a file, the second
 * decrypts them. The second fails if the passphrase is wrong, or the file was altered or truncated.
 * Throws an `Error` if the header is invalid.
 */
export async function createDecryption(path: string, header: Buffer, passphrase: string) {
  if (header.length < HEADER_BYTES) throw new Error('it is truncated')
  const key = await deriveKey(passphrase, header)

  const decrypt: ChunkCipher = (chunk, number, isLast) => {
    if (chunk.length < TAG_BYTES) throw new Error('it is truncated')
    const nonce = createNonce(number, isLast)
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(header)
    decipher.setAuthTag(chunk.subarray(-TAG_BYTES))
    const plaintext = decipher.update(chunk.subarray(0, -TAG_BYTES))
    try {
      decipher.final()
    } catch (cause) {
      const isFirst = number === 0
      throw new Error(
        isFirst ? 'the passphrase is wrong, or it was altered' : 'it was altered or truncated',
        { cause },
      )
    }
    return plaintext
  }
  return [
    createReadStream(path, { start: HEADER_BYTES }),
    createChunkTransform(CHUNK_BYTES + TAG_BYTES, decrypt),
  ] as const
}

/**
 * Derives the key of a file from the passphrase. Throws an `Error` if the header asks for more work
 * than this release uses.
 */
async function deriveKey(passphrase: string, header: Buffer): Promise<Buffer> {
  const [logN = 0, r = 0, p = 0] = header.subarray(MAGIC.length)
  const isAcceptable = (value: number, max: number) => value >= 1 && value <= max
  const isCostAcceptable =
    isAcceptable(logN, MAX_COST.logN) && isAcceptable(r, MAX_COST.r) && isAcceptable(p, MAX_COST.p)
  if (!isCostAcceptable) throw new Error('its header is damaged')

  const salt = header.subarray(-SALT_BYTES)
  const options: ScryptOptions = { N: 2 ** logN, r, p, maxmem: MAX_MEMORY_BYTES }
  return new Promise((resolve, reject) => {
    // The same text can be typed as different code points.
    scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}

/** Returns the nonce of a chunk: its number in 11 bytes, and whether it is the last one. */
function createNonce(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES)
  // `writeUIntBE` writes at most 6 bytes. The higher ones of the number are zero.
  nonce.writeUIntBE(number, NONCE_BYTES - 7, 6)
  nonce[NONCE_BYTES - 1] = isLast ? 1 : 0
  return nonce
}

/**
 * Creates a stream that applies `cipher` to chunks of `size` bytes. The last chunk may be shorter,
 * and is empty if the input is.
 */
function createChunkTransform(size: number, cipher: ChunkCipher): Transform {
  let pending = Buffer.alloc(0)
  let number = 0

  return new Transform({
    transform(bytes: Buffer, _, done) {
      try {
        pending = Buffer.concat([pending, bytes])
        // A full chunk may be the last one, until more bytes follow.
        while (pending.length > size) {
          this.push(cipher(pending.subarray(0, size), number, false))
          pending = pending.subarray(size)
          number += 1
        }
        done()
      } catch (error) {
        done(error as Error)
      }
    },
    flush(done) {
      try {
        this.push(cipher(pending, number, true))
        done()
      } catch (error) {
        done(error as Error)
      }
    },
  })
}
