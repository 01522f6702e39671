// @module-tag long

import { type MessageFromMedia, TICKS_PER_SECOND } from '@eyrie/contract'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createAdjustableClock } from '../../../../test/fixtures/manual-clock.ts'
import {
  connectControl,
  createDesiredSource,
  createViewSpec,
} from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { startMediaProcess } from '../../../../test/fixtures/processes/media-process.ts'

const MAX_BACKOFF_MS = 30_000
/** While the first pictures of a connection arrive, their capture times may still be corrected. */
const FIRST_FRAMES = 30
/**
 * Capture times are estimated from arrivals: one of them may be ahead by as much as packets are
 * delayed irregularly.
 */
const MAX_AHEAD_MS = 100
const TOKEN = 'other-token'
const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
const ball = createDesiredSource({ id: 7, type: 'inf', url: 'test://ball', views })

type Frame = Extract<MessageFromMedia, { type: 'frame' }>
const filterFrames = (messages: MessageFromMedia[]) =>
  messages.filter((each): each is Frame => each.type === 'frame')

/** Returns seconds of stream time per second of capture time. */
function measureSpeed(frames: Frame[]): number {
  const [first, last] = [frames[0]!, frames.at(-1)!]
  return (last.pts - first.pts) / TICKS_PER_SECOND / ((last.time - first.time) / 1e6)
}

/** Starts another instance in a separate process, with a ball as stream 7. */
async function startOther(port = '0') {
  const media = await startMediaProcess({ EYRIE_INTERNAL_TOKEN: TOKEN, EYRIE_MEDIA_PORT: port })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= media.stop()
    return stopped
  }
  onTestFinished(stop)
  const control = await connectControl(media.url, TOKEN)
  await control.apply(ball)
  await control.waitForStatus(7, ({ state }) => state === 'running')
  const kill = async () => {
    process.kill(media.pid, 'SIGKILL')
    await stop()
  }
  return { ...media, control, kill }
}

/** Starts media with stream 7 of another instance as its source 1. */
async function follow(url: string, token: string | undefined) {
  const clock = createAdjustableClock()
  const media = await serveMedia({ clock })
  const control = await media.connectControl()
  const address = { url: `${url}/streams/7`, ...(token && { token }) }
  await control.apply(createDesiredSource({ id: 1, type: 'hosted_video', address, views }))
  return { media, control, clock }
}

it('a stream of another instance is analysed and shown with the original capture times', async () => {
  const startedAt = Date.now()
  const other = await startOther()
  const followedAt = Date.now()
  const { media, control } = await follow(other.url, TOKEN)
  const first = await control.message('frame')
  // Stream time is this instance's own: it cannot exceed the time since the source was created.
  expect(first.pts / TICKS_PER_SECOND).toBeLessThan((Date.now() - followedAt) / 1000)
  await control.message('frame', ({ n }) => n > FIRST_FRAMES)
  expect(await control.waitForStatus(1, ({ state }) => state === 'running')).toMatchObject({
    width: 1280,
    height: 720,
    codec: 'h264',
  })
  expect((await fetch(`${media.url}/streams/1/snapshot.jpg`)).status).toBe(200)

  // Pictures were captured after the other instance started, regardless of delays.
  for (let time = 0; time < 20; time++) {
    const frame = await control.waitForNextMessage('frame')
    expect(frame.time / 1000).toBeGreaterThan(startedAt)
    expect(frame.time / 1000).toBeLessThanOrEqual(Date.now() + MAX_AHEAD_MS)
  }
  // The capture times of a connection are corrected at first, and by small steps afterwards.
  for (const { messages } of [other.control, control]) {
    await vi.waitFor(() =>
      expect(measureSpeed(filterFrames(messages).slice(-FIRST_FRAMES))).toBeCloseTo(1, 1),
    )
  }
}, 180_000)

it('a stream of another instance resumes after a restart, with increasing stream time', async () => {
  let other = await startOther()
  const { control, clock } = await follow(other.url, TOKEN)
  await control.message('frame')
  for (let time = 1; time <= 2; time++) {
    const { port } = new URL(other.url)
    await other.kill()
    const { reason } = await control.waitForStatus(1, ({ state }) => state === 'reconnecting')
    expect(reason).toContain(`${other.url}/streams/7`)
    other = await startOther(port)
    const countBefore = control.messages.length
    const hasResumed = () =>
      filterFrames(control.messages.slice(countBefore)).some(({ discontinuity }) => discontinuity)
    // A request may come before the stream has started, and is repeated after the next
    // back-off. While a request waits for its response, the clock must not advance: the
    // response would be late.
    await vi.waitUntil(async () => {
      const { next_try_at: nextTryAt } = await control.waitForStatus(1, () => true)
      if (nextTryAt) clock.advance(MAX_BACKOFF_MS)
      return hasResumed()
    }, 180_000)
  }
  const frames = filterFrames(control.messages)
  for (const [i, frame] of frames.entries()) {
    if (i === 0) continue
    const previous = frames[i - 1]!
    expect(frame.n).toBeGreaterThan(previous.n)
    expect(frame.pts).toBeGreaterThan(previous.pts)
    // Within a connection, capture times may still be corrected.
    if (frame.discontinuity) expect(frame.time).toBeGreaterThan(previous.time)
  }
}, 180_000)

it.each([
  ['no token', undefined, 7, /requires authentication/],
  ['another token', 'mine', 7, /rejects the token/],
  ['an unknown stream', TOKEN, 8, /has no stream at this path/],
])(
  'a stream requested with %s fails with a reason that does not contain the token',
  async (_, token, id, reason) => {
    const other = await startOther()
    const media = await serveMedia()
    const control = await media.connectControl()
    const address = { url: `${other.url}/streams/${id}`, ...(token && { token }) }
    await control.apply(createDesiredSource({ id: 1, type: 'hosted_video', address, views }))
    const lost = await control.waitForStatus(1, ({ state }) => state === 'reconnecting')
    expect(lost.reason).toMatch(reason)
    expect(lost.reason).not.toContain(token ?? TOKEN)
  },
)
