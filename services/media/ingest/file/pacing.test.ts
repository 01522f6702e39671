import { join } from 'node:path'
import { createLog } from '@eyrie/kit'
import { describe, expect, it, vi } from 'vitest'
import {
  createDesiredSource,
  createViewSpec,
} from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { makeVideo } from '../../../../test/fixtures/media/test-video.ts'
import { blockThread } from '../../../../test/fixtures/processes/block-thread.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { systemClock } from '../../runtime/clock.ts'
import { createPipelineSession } from '../pipeline-session.ts'
import { openFile } from './file-origin.ts'

const LONG = Boolean(process.env.EYRIE_LONG)
/** Number of times each file restarts. */
const TURNS = LONG ? 1000 : 10
const FRAMES = 4
const HOURS_NS = 4 * 3600 * 1e9

describe('pacing of a file', () => {
  it('ends the session if the first packet would be delayed for hours', async () => {
    const folder = createTemporaryFolder()
    const path = join(folder, 'clip.mp4')
    makeVideo(path, { frames: 30 })
    const origin = await openFile(path, [folder])
    const packets: number[] = []
    const session = createPipelineSession({
      origin: {
        ...origin,
        // The state of `clocksync` after a packet arrived between its clock and its base time.
        configure(pipeline) {
          origin.configure(pipeline)
          pipeline.set('pace', 'sync-to-first', false)
          pipeline.set('pace', 'ts-offset', HOURS_NS)
        },
      },
      codec: 'h264',
      unpaced: false,
      ptsOffset: 0,
      clock: systemClock,
      log: createLog('media', 'silent'),
      onSample: ({ pts }) => packets.push(pts!),
      onAuxiliaryFailure: () => {},
      onClock: () => {},
      onLoss: () => {},
    })
    expect(await session.play(new AbortController().signal)).toEqual({ end: 'wrong-pacing' })
    expect(packets).toEqual([])
    await session.pipeline.dispose()
  })

  it('loses no packets while the JavaScript thread is blocked', async () => {
    const media = await serveMedia()
    const url = join(media.folder, 'clip.mp4')
    makeVideo(url, { frames: 300, fps: 100 })
    const control = await media.connectControl()
    await control.apply(createDesiredSource({ id: 1, type: 'file', url }))
    await control.waitForStatus(1, ({ state }) => state === 'running')
    // More packets become due than the queue for this thread holds.
    blockThread(1500)
    await control.waitForStatus(1, ({ state }) => state === 'ended')
    expect(await media.readMetric('eyrie_media_packets_total', '{source="1"}')).toBe(300)
  })

  it(`never stalls in ${4 * TURNS} sessions on a busy machine`, {
    timeout: 60_000 + TURNS * 2_000,
  }, async () => {
    const media = await serveMedia()
    const url = join(media.folder, 'clip.mp4')
    makeVideo(url, { frames: FRAMES })
    const control = await media.connectControl()
    const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
    const sources = [1, 2, 3, 4].map(id => createDesiredSource({ id, type: 'inf', url, views }))
    await control.apply(...sources)
    const reached = new Map<number, number>()
    await vi.waitUntil(
      () => {
        for (const message of control.messages.splice(0)) {
          if (message.type === 'frame') reached.set(message.source, message.n)
        }
        return sources.every(({ id }) => (reached.get(id) ?? 0) > TURNS * FRAMES)
      },
      { timeout: 60_000 + TURNS * 1_500, interval: 100 },
    )
  })
})
