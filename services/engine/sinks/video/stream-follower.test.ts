import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { box } from '@eyrie/kit/mp4-boxes'
import { expect, it, onTestFinished, vi } from 'vitest'
import { StreamFollower } from './stream-follower.ts'

/** An init segment. */
const INIT = box('moov')
/** Attempts that fail before the stream is available, so that the delay reaches its maximum. */
const FAILED_ATTEMPTS = 4

/**
 * A media service that rejects the first requests. Each further stream breaks off after its init
 * segment. Returns the time of each request.
 */
async function serveBrokenStreams() {
  const requestTimesMs: number[] = []
  const server = createServer((_, response) => {
    requestTimesMs.push(performance.now())
    if (requestTimesMs.length <= FAILED_ATTEMPTS) {
      response.writeHead(503).end('{}')
      return
    }
    response.writeHead(200, { 'X-Epoch': 7 })
    response.write(INIT, () => response.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, requestTimesMs }
}

it('reconnects without a long delay after a stream that was received breaks off', async () => {
  const { url, requestTimesMs } = await serveBrokenStreams()
  const onInit = vi.fn()
  const onFailure = vi.fn()
  const follower = new StreamFollower({ url, token: undefined }, 1, {
    onInit,
    onFragment: () => {},
    onFailure,
  })
  onTestFinished(() => follower.stop())

  // The attempts before the stream is available are not delayed.
  while (requestTimesMs.length <= FAILED_ATTEMPTS) {
    follower.retryNow()
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  await vi.waitFor(() => expect(requestTimesMs.length).toBe(FAILED_ATTEMPTS + 3), 5000)

  expect(onInit).toHaveBeenCalledWith(Buffer.from(INIT), 7)
  expect(onFailure).toHaveBeenCalled()
  const [first, second, third] = requestTimesMs.slice(FAILED_ATTEMPTS)
  expect(second! - first!).toBeLessThan(400)
  expect(third! - second!).toBeLessThan(400)
})
