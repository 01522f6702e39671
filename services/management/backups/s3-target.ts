import { type FileHandle, open } from 'node:fs/promises'
import {
  type BackupTarget,
  compareNames,
  parseBackupTime,
  type StoredBackup,
} from './backup-target.ts'
import { createS3Client, readTag, type S3Options, type SendToS3 } from './s3-client.ts'

/** Size of the parts of a large file. With at most 10,000 parts, a backup can have 320 GB. */
const PART_BYTES = 32 << 20
const CLEANUP_TIMEOUT_MS = 10_000
/** The element that describes an object, in the XML of a list of objects. */
const CONTENTS_ELEMENT = /<Contents>[\s\S]*?<\/Contents>/g

export interface S3TargetOptions extends S3Options {
  /** Beginning of the keys of all backups. */
  prefix: string
  /** A larger file is sent in parts of this size. */
  partBytes?: number
}

/** Stores backups in a bucket of an S3-compatible storage. */
export function createS3Target(options: S3TargetOptions): BackupTarget {
  const { prefix, bucket, partBytes = PART_BYTES } = options
  const send = createS3Client(options)
  const toKey = (name: string) => prefix + name

  return {
    async list(signal) {
      const backups: StoredBackup[] = []
      // The storage returns a token if more objects follow.
      let token: string | undefined
      do {
        const query: Record<string, string> = { 'list-type': '2', prefix }
        if (token) query['continuation-token'] = token
        const { text } = await send({ method: 'GET', query, signal })
        backups.push(...parseBackups(text, prefix))
        token = readTag(text, 'NextContinuationToken')
      } while (token)
      return backups.sort(compareNames)
    },

    // S3 does not report free space.
    async assertSpace() {},

    async store(name, path, signal) {
      const key = toKey(name)
      const file = await open(path)
      try {
        const { size } = await file.stat()
        if (size > partBytes) {
          await storeInParts(send, { bucket, key, file, size, partBytes, signal })
        } else {
          await send({ method: 'PUT', key, body: await readPart(file, 0, size), signal })
        }

        const { headers } = await send({ method: 'HEAD', key, signal })
        const storedSize = headers.get('content-length')
        if (storedSize !== String(size)) {
          throw new Error(
            `the bucket ${bucket} has stored ${storedSize} of ${size} bytes of ${name}: run the backup again`,
          )
        }
      } finally {
        await file.close()
      }
    },

    async remove(name, signal) {
      await send({ method: 'DELETE', key: toKey(name), signal })
    },
  }
}

/** Returns the backups in the XML of a list of objects. Other objects are omitted. */
function parseBackups(xml: string, prefix: string): StoredBackup[] {
  const objects = Array.from(xml.matchAll(CONTENTS_ELEMENT), ([element]) => ({
    name: readTag(element, 'Key')?.slice(prefix.length) ?? '',
    bytes: Number(readTag(element, 'Size')),
  }))
  return objects.filter(({ name }) => parseBackupTime(name) !== undefined)
}

interface LargeFile {
  bucket: string
  key: string
  file: FileHandle
  /** Size of the file. */
  size: number
  partBytes: number
  signal: AbortSignal
}

/** Stores a file by a multipart upload. The object exists only when the upload is complete. */
async function storeInParts(send: SendToS3, options: LargeFile): Promise<void> {
  const { bucket, key, signal } = options
  const { text } = await send({ method: 'POST', key, query: { uploads: '' }, signal })
  const uploadId = readTag(text, 'UploadId')
  if (!uploadId) {
    throw new Error(`the bucket ${bucket} has not begun the upload: its answer has no UploadId`)
  }
  try {
    const parts = await sendParts(send, options, uploadId)
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
    await send({ method: 'POST', key, query: { uploadId }, body, signal })
  } catch (error) {
    // The parts of an unfinished upload are invisible, but use space. If they cannot be deleted
    // either, the first error counts.
    const cleanup = AbortSignal.timeout(CLEANUP_TIMEOUT_MS)
    await send({ method: 'DELETE', key, query: { uploadId }, signal: cleanup }).catch(() => {})
    throw error
  }
}

/**
 * Sends the parts of a file. Returns the XML element of each part with which the
 * upload is completed.
 */
async function sendParts(
  send: SendToS3,
  { key, file, size, partBytes, signal }: LargeFile,
  uploadId: string,
): Promise<string[]> {
  const parts: string[] = []
  for (let position = 0; position < size; position += partBytes) {
    const body = await readPart(file, position, Math.min(partBytes, size - position))
    const partNumber = parts.length + 1
    const query = { partNumber: String(partNumber), uploadId }
    const { headers } = await send({ method: 'PUT', key, query, body, signal })
    const tag = headers.get('etag') ?? ''
    parts.push(`<Part><PartNumber>${partNumber}</PartNumber><ETag>${tag}</ETag></Part>`)
  }
  return parts
}

async function readPart(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const part = Buffer.allocUnsafe(length)
  for (let read = 0; read < length; ) {
    const { bytesRead } = await file.read(part, read, length - read, position + read)
    if (bytesRead === 0) throw new Error('the backup has become shorter while it was read')
    read += bytesRead
  }
  return part
}
