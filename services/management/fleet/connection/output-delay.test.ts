import type { Client } from '@eyrie/client'
import { describe, expect, it, vi } from 'vitest'
import { type ServedOutput, serveOutput } from '../../../../test/fixtures/engine/served-output.ts'
import { startStallingProxy } from '../../../../test/fixtures/network/stalling-proxy.ts'
import { advancePosition, type OutputPosition } from '../../events/ingest/output-position.ts'
import { createOutputFollower } from './output-follower.ts'

const WAIT = { timeout: 60_000, interval: 20 }

/** Publishes events and waits until they are in the log. */
async function publish({ output }: ServedOutput, count: number, padding = ''): Promise<void> {
  const time = new Date().toISOString()
  const place = { channel: 1, source: 1, pipeline: 1, pts: 0, epoch: 1, time }
  const newest = output.status().newest + count
  for (let n = 0; n < count; n++) {
    output.publish({ kind: 'event', ...place, data: { type: `event ${padding}` } })
  }
  await vi.waitFor(() => expect(output.status().newest).toBe(newest))
}

/** Follows an output. Nothing counts as stored while `pause` is in effect. */
function follow(engine: Client, start: { log_id: string; seq: number } | undefined) {
  let position: OutputPosition = start ?? { log_id: null, seq: 0 }
  let gate: PromiseWithResolvers<void> | undefined
  const follower = createOutputFollower({
    engine,
    onHello: async () => {},
    async consume(messages) {
      await gate?.promise
      position = advancePosition(position, messages).position
      return position.seq
    },
  })
  follower.follow(start).catch(() => {})
  return {
    getDelayMs: follower.getDelayMs,
    pause: () => {
      gate = Promise.withResolvers()
    },
    resume: () => gate?.resolve(),
  }
}

describe('the delay of stored output', () => {
  it('is unknown until the messages of an outage are stored', async () => {
    const served = await serveOutput()
    const start = { log_id: await served.readLogId(), seq: 1 }
    await publish(served, 1500)
    const { getDelayMs, pause, resume } = follow(served.connect(), start)
    pause()
    await vi.waitFor(() => expect(served.output.status().followers).toBe(1), WAIT)
    expect(getDelayMs()).toBeUndefined()
    resume()
    await vi.waitFor(() => expect(getDelayMs()).toBe(0), WAIT)
  })

  it('is known of an engine that has sent nothing', async () => {
    const served = await serveOutput()
    const { getDelayMs } = follow(served.connect(), undefined)
    await vi.waitFor(() => expect(getDelayMs()).toBe(0), WAIT)
  })

  it('is known when the engine has deleted messages that were not stored', async () => {
    const served = await serveOutput({ logBytes: 8 << 10, segmentBytes: 4 << 10 })
    const start = { log_id: await served.readLogId(), seq: 1 }
    await publish(served, 100, 'x'.repeat(500))
    const { getDelayMs } = follow(served.connect(), start)
    await vi.waitFor(() => expect(getDelayMs()).toBe(0), WAIT)
  })

  it('is known of an engine whose newest message is not sent', { timeout: 60_000 }, async () => {
    const served = await serveOutput()
    await publish(served, 1)
    // Without a position, a new consumer receives only later messages.
    const { getDelayMs } = follow(served.connect(), undefined)
    await vi.waitFor(() => expect(getDelayMs()).toBe(0), WAIT)
  })

  it('grows while a message is not stored', async () => {
    const served = await serveOutput()
    const { getDelayMs, pause, resume } = follow(served.connect(), undefined)
    await vi.waitFor(() => expect(getDelayMs()).toBe(0), WAIT)
    pause()
    await publish(served, 1)
    await vi.waitFor(() => expect(getDelayMs()).toBeGreaterThan(100), WAIT)
    resume()
    await vi.waitFor(() => expect(getDelayMs()).toBe(0), WAIT)
  })

  it('is unknown while the network is down, although the connection remains', async () => {
    const { url, connect } = await serveOutput()
    const proxy = await startStallingProxy(url)
    const { getDelayMs } = follow(connect(proxy.url), undefined)
    await vi.waitFor(() => expect(getDelayMs()).toBe(0), WAIT)
    proxy.stall()
    await vi.waitFor(() => expect(getDelayMs()).toBeUndefined(), WAIT)
    proxy.resume()
    await vi.waitFor(() => expect(getDelayMs()).toBe(0), WAIT)
  })
})
