// @module-tag long

import { join } from 'node:path'
import { recordingList } from '@eyrie/contract'
import { expect, it, vi } from 'vitest'
import { startRtspCamera } from '../../../test/fixtures/cameras/rtsp-camera.ts'
import { createDesiredSource } from '../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { makeVideo } from '../../../test/fixtures/media/test-video.ts'
import { runOnSmallDisk } from '../../../test/fixtures/processes/small-disk.ts'
import { mountRequirement } from '../../../test/fixtures/requirements/mount-namespace.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'

const PATIENCE = { timeout: 90_000, interval: 100 }
const recording = { mode: 'continuous', before_s: 0, after_s: 0, sound: true } as const
const fixture = join(import.meta.dirname, 'full-disk.fixture.ts')

it('deletes the oldest recordings on a full disk, and drops new packets when other files fill the disk', {
  ...needs(mountRequirement),
  timeout: 180_000,
}, async () => {
  const printed = await runOnSmallDisk('6m', [fixture], 120_000)
  const { kept, filled, freed } = JSON.parse(printed)
  expect(kept).toMatchObject({ dropped: 0, failure: null })
  expect(kept.written).toBeGreaterThan(3 * kept.bytes)
  expect(kept.free).toBeGreaterThanOrEqual(1 << 20)
  expect(kept.newest).toBe(true)
  expect(filled.failure).toMatch(/left|ENOSPC/)
  expect(filled.dropped).toBeGreaterThan(0)
  expect(freed.failure).toBeNull()
})

it('lists separate ranges for a camera that reconnects and changes its picture size', {
  timeout: 180_000,
}, async () => {
  const media = await serveMedia()
  const camera = await startRtspCamera()
  const control = await media.connectControl()
  await control.apply(createDesiredSource({ id: 1, type: 'video', url: camera.url, recording }))
  const ranges = async () => {
    const { streams } = recordingList.parse(await (await fetch(`${media.url}/recordings`)).json())
    return streams[0]?.ranges ?? []
  }
  const seconds = async (range: number) => {
    const recorded = (await ranges())[range]
    return recorded ? (Date.parse(recorded.to) - Date.parse(recorded.from)) / 1000 : 0
  }
  await vi.waitFor(async () => expect(await seconds(0)).toBeGreaterThan(2), PATIENCE)
  await camera.kill()
  await control.waitForStatus(1, ({ state }) => state === 'reconnecting')
  await vi.waitUntil(async () => Date.now() - Date.parse((await ranges())[0]!.to) > 4000, PATIENCE)
  const other = await startRtspCamera({ port: camera.port })
  await vi.waitFor(async () => expect(await seconds(1)).toBeGreaterThan(2), PATIENCE)
  other.enlarge()
  await vi.waitFor(async () => expect(await seconds(2)).toBeGreaterThan(2), PATIENCE)
  const [before, after, larger] = await ranges()
  expect(Date.parse(after!.from) - Date.parse(before!.to)).toBeGreaterThan(2000)
  expect([before, after, larger].map(range => range!.width)).toEqual([320, 320, 640])

  // The Link header has the time from which the picture has another size.
  const first = await fetch(`${media.url}/recordings/1`)
  expect(first.headers.get('X-Recorded-Size')).toBe('320x240')
  expect((await first.arrayBuffer()).byteLength).toBeGreaterThan(10_000)
  const [, next] = /^<(.*)>; rel="next"$/.exec(first.headers.get('Link') ?? '') ?? []
  const second = await fetch(new URL(next!, `${media.url}/recordings/1`))
  expect(second.headers.get('X-Recorded-Size')).toBe('640x480')
  await second.body?.cancel()
})

const sourceCount = process.env.EYRIE_LONG === '1' ? 32 : 12

it(`records ${sourceCount} sources with bounded memory`, { timeout: 180_000 }, async () => {
  const media = await serveMedia({
    settings: { media: { recording: { segment_s: 2 }, snapshot_s: 0 } },
  })
  const path = join(media.folder, 'clip.mp4')
  makeVideo(path, { frames: 60, fps: 15, keyframeInterval: 15 })
  const sources = Array.from({ length: sourceCount }, (_, i) =>
    createDesiredSource({ id: i + 1, type: 'inf', url: path, recording }),
  )
  const control = await media.connectControl()
  await control.apply(...sources)
  const list = async () =>
    recordingList.parse(await (await fetch(`${media.url}/recordings`)).json())
  const recorded = (minSeconds: number) =>
    vi.waitFor(async () => {
      const { streams } = await list()
      const lengths = streams.map(({ ranges }) =>
        ranges.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0),
      )
      expect(lengths.filter(ms => ms > minSeconds * 1000)).toHaveLength(sourceCount)
      return streams
    }, PATIENCE)
  await recorded(2)
  const before = process.memoryUsage()
  const streams = await recorded(12)
  const after = process.memoryUsage()
  expect(streams.map(({ dropped }) => dropped)).toEqual(sources.map(() => 0))
  expect(await media.readMetric('eyrie_media_recording_queued_bytes')).toBeLessThan(8 << 20)
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(32 << 20)
})
