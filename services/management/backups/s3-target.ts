import { type FileHandle, open } from 'node:fs/promises'
import { type BackupTarget, parseBackupTime, type StoredBackup } from './backup-target.ts'
import { createS3Client, readTag, type S3Options } from './s3-client.ts'

/** Parts of a large file have this size: with at most 10,000 parts, a backup can have 320 GB. */
const PART_BYTES = 32 << 20

export interface S3TargetOptions extends S3Options {
  /** Beginning of the keys. */
  prefix: string
  /** Files that are larger are sent in parts of this size. */
  partBytes?: number
}

/** Stores backups in a bucket. */
export function createS3Target(options: S3TargetOptions): BackupTarget {
  const { prefix, bucket, partBytes = PART_BYTES } = options
  const send = createS3Client(options)
  const toKey = (name: string) => prefix + name

  async function storeInParts(name: string, file: FileHandle, bytes: number, signal: AbortSignal) {
    const key = toKey(name)
    const begun = await send({ method: 'POST', key, query: { uploads: '' }, signal })
    const uploadId = readTag(begun.text, 'UploadId')
    if (!uploadId)
      throw new Error(`the bucket ${bucket} has not begun the upload: its answer has no UploadId`)
    try {
      const tags: string[] = []
      for (let position = 0; position < bytes; position += partBytes) {
        const body = await readPart(file, position, Math.min(partBytes, bytes - position))
        const partNumber = tags.length + 1
        const query = { partNumber: String(partNumber), uploadId }
        const { headers } = await send({ method: 'PUT', key, query, body, signal })
        tags.push(
          `<Part><PartNumber>${partNumber}</PartNumber><ETag>${headers.get('etag') ?? ''}</ETag></Part>`,
        )
      }
      const body = Buffer.from(`<CompleteMultipartUpload>${tags.join('')}</CompleteMultipartUpload>`)
      await send({ method: 'POST', key, query: { uploadId }, body, signal })
    } catch (error) {
      // Parts without an object are invisible, but cost space.
      const cleanup = AbortSignal.timeout(CLEANUP_TIMEOUT_MS)
      await send({ method: 'DELETE', key, query: { uploadId }, signal: cleanup }).catch(() => {})
      throw error
    }
  }

  return {
    async list(signal) {
      const backups: StoredBackup[] = []
      for (let token: string | undefined; ; ) {
        const query = { 'list-type': '2', prefix, ...(token && { 'continuation-token': token }) }
        const { text } = await send({ method: 'GET', query, signal })
        for (const [entry] of text.matchAll(/<Contents>[\s\S]*?<\/Contents>/g)) {
          const name = readTag(entry, 'Key')?.slice(prefix.length) ?? ''
          if (parseBackupTime(name) !== undefined)
            backups.push({ name, bytes: Number(readTag(entry, 'Size')) })
        }
        token = readTag(text, 'NextContinuationToken')
        if (!token) return backups.sort((a, b) => (a.name < b.name ? -1 : 1))
      }
    },

    async assertSpace() {},

    async store(name, path, signal) {
      const file = await open(path)
      try {
        const { size } = await file.stat()
        if (size > partBytes) await storeInParts(name, file, size, signal)
        else await send({ method: 'PUT', key: toKey(name), body: await readPart(file, 0, size), signal })

        const { headers } = await send({ method: 'HEAD', key: toKey(name), signal })
        if (headers.get('content-length') !== String(size))
          throw new Error(
            `the bucket ${bucket} has stored ${headers.get('content-length')} of ${size} bytes of ${name}: run the backup again`,
          )
      } finally {
        await file.close()
      }
    },

    async remove(name, signal) {
      await send({ method: 'DELETE', key: toKey(name), signal })
    },
  }
}

const CLEANUP_TIMEOUT_MS = 10_000

async function readPart(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const part = Buffer.allocUnsafe(length)
  for (let read = 0; read < length; ) {
    const { bytesRead } = await file.read(part, read, length - read, position + read)
    if (bytesRead === 0) throw new Error('the backup has become shorter while it was read')
    read += bytesRead
  }
  return part
}
