import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { AwsV4Signer } from 'aws4fetch'
import { describe, expect, it, onTestFinished } from 'vitest'
import { S3_BUCKET, S3_KEY, startS3Server } from '../../../test/fixtures/management/s3-server.ts'
import { backupEgress } from '../../../test/fixtures/network/local-egress.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { selectExpired, toBackupName } from './backup-target.ts'
import { createFolderTarget } from './folder-target.ts'
import { createS3Target, type S3TargetOptions } from './s3-target.ts'

const { signal } = new AbortController()
const DAY_MS = 86_400_000
const now = Date.parse('2026-03-04T02:41:07Z')
const nameAt = (daysAgo: number) => toBackupName(new Date(now - daysAgo * DAY_MS))
const name = nameAt(0)

function createFile(bytes: number): string {
  const path = join(createTemporaryFolder(), 'archive')
  writeFileSync(path, randomBytes(bytes))
  return path
}

const hash = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

const createTarget = (endpoint: string, more: Partial<S3TargetOptions> = {}) =>
  createS3Target({
    ...{
      endpoint,
      region: 'us-east-1',
      bucket: S3_BUCKET,
      prefix: 'site-1/',
      egress: backupEgress,
    },
    ...S3_KEY,
    ...more,
  })

/** A storage that accepts every request with the right signature. Returns its address. */
async function startVerifyingStorage(): Promise<string> {
  const server = createServer(async (request, response) => {
    request.resume()
    const { headers, method = '', url = '' } = request
    const signer = new AwsV4Signer({
      ...{ ...S3_KEY, method, service: 's3', region: 'us-east-1' },
      url: `http://${headers.host}${url}`,
      headers: { 'x-amz-content-sha256': String(headers['x-amz-content-sha256']) },
      datetime: String(headers['x-amz-date']),
    })
    const isRight = (await signer.sign()).headers.get('authorization') === headers.authorization
    const error =
      '<Error><Code>SignatureDoesNotMatch</Code><Message>wrong signature</Message></Error>'
    response.writeHead(isRight ? 200 : 403).end(isRight ? '' : error)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the retention of backups', () => {
  const backups = [0, 1, 2, 3, 10].map(days => ({ name: nameAt(days), bytes: 1 }))
  it.each([
    [{ keep: 2, keepDays: 0 }, [2, 3, 10]],
    [{ keep: 2, keepDays: 3 }, [3, 10]],
    [{ keep: 9, keepDays: 0 }, []],
    [{ keep: 0, keepDays: 0 }, [1, 2, 3, 10]],
  ])('selects the oldest ones for %o, and never the newest one', (retention, days) => {
    expect(selectExpired(backups, retention, now).map(({ name }) => name)).toEqual(days.map(nameAt))
  })
})

describe('a folder', () => {
  it('stores complete files only, lists them by time and deletes them', async () => {
    const folder = createTemporaryFolder()
    const target = createFolderTarget(folder)
    const file = createFile(100_000)
    writeFileSync(join(folder, 'letter.txt'), 'not a backup')
    await target.store(name, file, signal)
    await target.store(nameAt(1), file, signal)
    expect(await target.list(signal)).toEqual([
      { name: nameAt(1), bytes: 100_000 },
      { name, bytes: 100_000 },
    ])
    expect(hash(join(folder, name))).toBe(hash(file))
    await target.remove(name, signal)
    expect(readdirSync(folder).sort()).toEqual([nameAt(1), 'letter.txt'])
  })

  it('contains nothing of a backup that was interrupted, and loses what a crash has left', async () => {
    const folder = createTemporaryFolder()
    const target = createFolderTarget(folder)
    await expect(target.store(name, createFile(1000), AbortSignal.abort())).rejects.toThrow()
    expect(readdirSync(folder)).toEqual([])
    writeFileSync(join(folder, `${name}.part`), 'half')
    expect(await target.list(signal)).toEqual([])
    await target.assertSpace(1)
    expect(readdirSync(folder)).toEqual([])
  })

  it('that does not exist, is too small or is a file is reported with the remedy', async () => {
    const folder = createTemporaryFolder()
    const missing = createFolderTarget(join(folder, 'missing'))
    await expect(missing.list(signal)).rejects.toThrow(
      'does not exist: create it, or mount its disk',
    )
    await expect(createFolderTarget(folder).assertSpace(1e18)).rejects.toThrow(
      /needs about 1000000000\.0 GB, and .* has only .* left: free some space/,
    )
    writeFileSync(join(folder, 'file'), '')
    await expect(createFolderTarget(join(folder, 'file')).list(signal)).rejects.toThrow(
      'not a folder',
    )
  })
})

describe('a bucket', () => {
  it.each([
    ['one request', 100_000, 1 << 20],
    ['parts', 3_500_000, 1 << 20],
  ])('stores a file in %s, lists and deletes it', async (_, bytes, partBytes) => {
    const server = await startS3Server()
    const target = createTarget(server.endpoint, { partBytes })
    const file = createFile(bytes)
    await target.store(name, file, signal)
    expect(server.listKeys()).toEqual([`site-1/${name}`])
    expect(hash(server.toPath(`site-1/${name}`))).toBe(hash(file))
    expect(await target.list(signal)).toEqual([{ name, bytes }])
    expect(await createTarget(server.endpoint, { prefix: 'site-2/' }).list(signal)).toEqual([])
    await target.remove(name, signal)
    expect(await target.list(signal)).toEqual([])
  })

  it('contains no object of an upload that is interrupted between two parts', async () => {
    const server = await startS3Server()
    const stopping = new AbortController()
    // Forwards everything until it interrupts the second part.
    const proxy = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray())
      if (request.url?.includes('partNumber=2')) {
        stopping.abort(new Error('interrupted'))
        return
      }
      const { host, ...headers } = request.headers as Record<string, string>
      const answer = await fetch(server.endpoint + request.url, {
        method: request.method ?? 'GET',
        headers: { ...headers, host: host ?? '' },
        ...(body.length > 0 && { body }),
      })
      response.writeHead(answer.status, { etag: answer.headers.get('etag') ?? '' })
      response.end(await answer.text())
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    onTestFinished(() => {
      proxy.closeAllConnections()
      proxy.close()
    })
    const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const target = createTarget(endpoint, { partBytes: 1 << 20 })
    await expect(target.store(name, createFile(3_000_000), stopping.signal)).rejects.toThrow(
      'interrupted',
    )
    expect(await createTarget(server.endpoint).list(signal)).toEqual([])
  })

  it.each([
    ['an unknown access key', { accessKeyId: 'wrong' }, 'correct backup_s3_access_key'],
    ['a bucket that does not exist', { bucket: 'missing' }, 'create the bucket'],
  ])('reports %s with the remedy', async (_, options, remedy) => {
    const server = await startS3Server()
    await expect(createTarget(server.endpoint, options).list(signal)).rejects.toThrow(remedy)
    await expect(
      createTarget(server.endpoint, options).store(name, createFile(10), signal),
    ).rejects.toThrow(remedy)
  })

  it('verifies the signatures of all requests, so that a wrong secret key is reported', async () => {
    const endpoint = await startVerifyingStorage()
    await expect(createTarget(endpoint).list(signal)).resolves.toEqual([])
    await createTarget(endpoint).remove(name, signal)
    const wrong = createTarget(endpoint, { secretAccessKey: 'wrong' })
    await expect(wrong.list(signal)).rejects.toThrow(
      /403 SignatureDoesNotMatch wrong signature\): correct backup_s3_secret_key/,
    )
  })

  it('reports a storage that cannot be reached, or must not be', async () => {
    const server = await startS3Server()
    await server.close()
    await expect(createTarget(server.endpoint).list(signal)).rejects.toThrow(
      /cannot be reached \(ECONNREFUSED\): check backup_s3_endpoint/,
    )
    await expect(createTarget('http://169.254.169.254').list(signal)).rejects.toThrow(
      'EYRIE_EGRESS_ALLOW',
    )
  })

  it('reports a storage that has lost a part of the file', async () => {
    const server = createServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-length': request.method === 'HEAD' ? '7' : '0' }).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const target = createTarget(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    await expect(target.store(name, createFile(10), signal)).rejects.toThrow(
      'has stored 7 of 10 bytes',
    )
  })
})
