import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createFramePictureLoader } from './frame-picture.ts'

/**
 * A media service that answers with these statuses in turn, the last of them for all further
 * requests.
 */
async function serveMedia(statuses: number[], pts: number) {
  let running = 0
  let maxRunning = 0
  const server = createServer((_, response) => {
    running += 1
    maxRunning = Math.max(maxRunning, running)
    // Requests overlap.
    setImmediate(() => {
      running -= 1
      const status = statuses.length > 1 ? statuses.shift()! : statuses[0]!
      response.writeHead(status, { 'X-Pts': pts }).end('jpeg')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    load: createFramePictureLoader({ url, token: undefined }),
    getMaxRunning: () => maxRunning,
  }
}

describe('picture of a frame', () => {
  it('is requested again while media is too busy', async () => {
    const { load } = await serveMedia([503, 503, 200], 9000)
    expect(await load(1, 9000)).toEqual({ jpeg: new Uint8Array(Buffer.from('jpeg')), pts: 9000 })
  })

  it('is not requested again if media no longer has it', async () => {
    const { load } = await serveMedia([404, 200], 9000)
    await expect(load(1, 9000)).rejects.toThrow('media answered 404')
  })

  it('is rejected if it shows another second', async () => {
    const { load } = await serveMedia([200], 9000 + 90_001)
    await expect(load(1, 9000)).rejects.toThrow('the nearest is at 99001')
  })

  it('is one of at most eight that are requested at the same time', async () => {
    const { load, getMaxRunning } = await serveMedia([200], 9000)
    await Promise.all(Array.from({ length: 50 }, () => load(1, 9000)))
    expect(getMaxRunning()).toBeLessThanOrEqual(8)
  })
})
