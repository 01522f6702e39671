import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startTcpServer } from '../../test/fixtures/network/tcp-server.ts'
import { download, PUBLISHED_MODELS } from './published-models.ts'

const file = Buffer.alloc(1 << 20, 'model')
const sha256 = createHash('sha256').update(file).digest('hex')

let server: Server
let origin: string
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/moved') {
      response.writeHead(302, { location: '/model.onnx' }).end()
    } else if (request.url === '/model.onnx') {
      response.writeHead(200, { 'content-length': file.length }).end(file)
    } else if (request.url === '/interrupted') {
      response.writeHead(200, { 'content-length': file.length })
      response.write(file.subarray(0, 100), () => response.destroy())
    } else {
      response.writeHead(404).end()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

describe('download', () => {
  it('follows redirects and reports progress', async () => {
    const progress: [number, number | undefined][] = []
    const bytes = await download({ url: `${origin}/moved`, sha256 }, (...now) => progress.push(now))
    expect(file.equals(bytes)).toBe(true)
    expect(progress.at(-1)).toEqual([file.length, file.length])
  })

  it('rejects a file with another hash', async () => {
    const model = { url: `${origin}/model.onnx`, sha256: '0'.repeat(64) }
    await expect(download(model)).rejects.toThrow(`its sha256 is ${sha256}`)
  })

  it('reports the status of a failed request', async () => {
    await expect(download({ url: `${origin}/none`, sha256 })).rejects.toThrow('404')
  })

  it('names the file whose download is interrupted', async () => {
    const model = { url: `${origin}/interrupted`, sha256 }
    await expect(download(model)).rejects.toThrow(/download of .*\/interrupted was interrupted/)
  })

  it('suggests --file if the server cannot be reached', async () => {
    const unreachable = { url: 'http://127.0.0.1:1/model.onnx', sha256 }
    await expect(download(unreachable)).rejects.toThrow(/127\.0\.0\.1:1 cannot be reached.*--file/)
  })

  it('fails if the server accepts the connection and stays silent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { port } = await startTcpServer(() => void vi.advanceTimersByTime(30_000))
    const silent = { url: `http://127.0.0.1:${port}/model.onnx`, sha256 }
    await expect(download(silent)).rejects.toThrow(
      /cannot be reached \(it has not answered in time/,
    )
  })
})

describe('published models', () => {
  it('are release files with a hash and a permissive license', () => {
    for (const { url, sha256, options } of Object.values(PUBLISHED_MODELS)) {
      expect(url).toMatch(/^https:\/\/github\.com\/.*\/releases\/download\//)
      expect(sha256).toMatch(/^[0-9a-f]{64}$/)
      expect(options.license).toMatch(/^(Apache-2\.0|MIT|BSD-3-Clause)$/)
      expect(options.labels).toHaveLength(80)
    }
  })
})
