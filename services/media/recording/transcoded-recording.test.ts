// @module-tag long

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { startRtspCamera } from '../../../test/fixtures/cameras/rtsp-camera.ts'
import { createAdjustableClock } from '../../../test/fixtures/manual-clock.ts'
import { createDesiredSource } from '../../../test/fixtures/media/control-client.ts'
import {
  continuousRecording,
  listRecordings,
  waitForRecordedSeconds,
} from '../../../test/fixtures/media/recorded-stream.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'

const PATIENCE = { timeout: 60_000, interval: 100 }
const MAX_BACKOFF_MS = 30_000

/** Starts media that records a camera as source 1. */
async function record(url: string) {
  const clock = createAdjustableClock()
  const media = await serveMedia({ clock })
  const control = await media.connectControl()
  const address = { url, transport: 'tcp' } as const
  await control.apply(
    createDesiredSource({ id: 1, type: 'video', address, recording: continuousRecording }),
  )
  return { clock, media, control }
}

describe('recording of a camera', { timeout: 180_000 }, () => {
  it.each(['jpeg', 'mpeg4'] as const)('in %s is H.264 with the times of capture', async codec => {
    const startedAt = Date.now()
    const { url } = await startRtspCamera({ codec })
    const { media } = await record(url)
    const { state, ranges } = await waitForRecordedSeconds(media, 3)
    expect(state).toBe('recording')
    expect(ranges.at(-1)).toMatchObject({
      codecs: expect.stringMatching(/^avc1/),
      width: 320,
      height: 240,
    })
    expect(Date.parse(ranges[0]!.from)).toBeGreaterThan(startedAt)
    const recordedMs = Date.parse(ranges.at(-1)!.to) - Date.parse(ranges[0]!.from)
    expect(recordedMs).toBeLessThan(Date.now() - startedAt)

    const file = join(media.folder, 'download.mp4')
    const answer = await fetch(`${media.url}/recordings/1`)
    writeFileSync(file, Buffer.from(await answer.arrayBuffer()))
    const decode = [
      '-v',
      'error',
      '-count_frames',
      '-show_entries',
      'stream=codec_name,nb_read_frames',
    ]
    const output = execFileSync('ffprobe', [...decode, '-of', 'csv=p=0', file], {
      encoding: 'utf8',
    })
    const [name, frames] = output.trim().split(',')
    expect(name).toBe('h264')
    expect(Number(frames)).toBeGreaterThan(10)
  })

  it('continues in the same list when the camera returns with another codec', async () => {
    const { url, port, kill } = await startRtspCamera({ codec: 'jpeg' })
    const { clock, media, control } = await record(url)
    await waitForRecordedSeconds(media, 2)
    await kill()
    await control.waitForStatus(1, ({ state }) => state === 'reconnecting')
    await startRtspCamera({ port, codec: 'h265' })
    await vi.waitFor(async () => {
      const { next_try_at: nextTryAt } = await control.waitForStatus(1, () => true)
      if (nextTryAt) clock.advance(MAX_BACKOFF_MS)
      const [stream] = await listRecordings(media)
      const codecs = stream!.ranges.map(range => range.codecs?.slice(0, 4))
      expect([codecs[0], codecs.at(-1)]).toEqual(['avc1', 'hvc1'])
    }, PATIENCE)
  })
})
