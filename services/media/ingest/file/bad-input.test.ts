import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAdjustableClock } from '../../../../test/fixtures/manual-clock.ts'
import {
  createDesiredSource,
  createViewSpec,
} from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { makeSound, makeVideo } from '../../../../test/fixtures/media/test-video.ts'

const MAX_BACKOFF_MS = 30_000
const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }

/** Invalid files, and the expected reasons. */
const broken: [what: string, make: (path: string) => void, reason: RegExp][] = [
  ['a path that does not exist', () => {}, /does not exist: copy it there/],
  ['a file of zero bytes', path => writeFileSync(path, ''), /is empty/],
  [
    'text',
    path => writeFileSync(path, 'This is no video. '.repeat(100)),
    /is not a playable video/,
  ],
  [
    'noise',
    path =>
      writeFileSync(
        path,
        Uint8Array.from({ length: 5000 }, (_, i) => (i * i * 31) % 251),
      ),
    /is not a playable video/,
  ],
  ['a folder', path => mkdirSync(path), /is a folder/],
  ['sound without a picture', makeSound, /it contains no video/],
  [
    'a video cut off before its index',
    path => cutOff(path, { fastStart: false }),
    /is not a playable video/,
  ],
  [
    'a link that leads out',
    path => symlinkSync('/etc/hostname', path),
    /lies outside the allowed folders/,
  ],
]

function cutOff(path: string, video: { fastStart: boolean }) {
  makeVideo(path, { ...video, frames: 60, pattern: 'snow' })
  const whole = readFileSync(path)
  writeFileSync(path, whole.subarray(0, whole.length / 2))
}

describe('file source', () => {
  it.each(broken)(
    'fails with a reason for %s, without affecting other sources',
    async (_, make, reason) => {
      const media = await serveMedia()
      const control = await media.connectControl()
      const path = join(media.folder, 'clip.mp4')
      make(path)
      const good = createDesiredSource({ id: 9, type: 'inf', url: 'test://ball', views })
      await control.apply(
        good,
        createDesiredSource({ id: 1, type: 'file', url: path, views }),
        createDesiredSource({ id: 2, type: 'inf', url: path, views, decoder: 'gst' }),
        createDesiredSource({ id: 3, type: 'file', url: path, views, pacing: 'all' }),
      )
      for (const id of [1, 2, 3]) {
        const status = await control.waitForStatus(id, ({ state }) => state === 'failed')
        expect(status.reason).toMatch(reason)
        expect(status.reason).toContain(path)
      }
      await control.waitForNextMessage('frame', ({ source }) => source === 9)
      expect((await fetch(`${media.url}/streams/1`)).status).toBe(503)
    },
  )

  it('plays a truncated video up to its end', async () => {
    const media = await serveMedia()
    const control = await media.connectControl()
    const path = join(media.folder, 'clip.mp4')
    cutOff(path, { fastStart: true })
    await control.apply(createDesiredSource({ id: 1, type: 'file', url: path, views }))
    await control.waitForStatus(1, ({ state }) => state === 'ended')
    const packets = await media.readMetric('eyrie_media_packets_total', '{source="1"}')
    expect(packets).toBeGreaterThan(5)
    expect(packets).toBeLessThan(60)
  })

  it.each(['file', 'inf'] as const)('of type %s plays a file that is created later', async type => {
    const clock = createAdjustableClock()
    const media = await serveMedia({ clock })
    const control = await media.connectControl()
    const elsewhere = join(media.folder, 'elsewhere.mp4')
    const path = join(media.folder, 'clip.mp4')
    makeVideo(elsewhere)
    await control.apply(createDesiredSource({ id: 1, type, url: path, views }))
    await control.waitForStatus(1, ({ state }) => state === 'failed')
    renameSync(elsewhere, path)
    clock.advance(MAX_BACKOFF_MS)
    const status = await control.waitForStatus(1, ({ state }) => state === 'running')
    expect(status.reason).toBeUndefined()
  })
})

it.each([
  ['video', 'ftp://127.0.0.1/cam', /invalid RTSP address/],
  ['video', '/dev/video987', /does not exist: connect the camera/],
  ['hosted_video', 'rtsp://127.0.0.1/streams/1', /invalid HTTP address/],
  ['video', 'rtsp://', /invalid RTSP address/],
  ['inf', 'test://nonsense', /is not a test pattern/],
  ['file', 'https://host/clip.mp4', /names no local file/],
  ['file', '/etc/passwd', /lies outside the allowed folders/],
] as const)('source of type %s at %s fails with a reason', async (type, url, reason) => {
  const media = await serveMedia()
  const control = await media.connectControl()
  await control.apply(createDesiredSource({ id: 1, type, url, views }))
  const status = await control.waitForStatus(
    1,
    ({ state }) => state === 'failed' || state === 'reconnecting',
  )
  expect(status.reason).toMatch(reason)
})

it.each(['gst_h264', 'gst', 'ffmpeg'] as const)(
  'a file in H.265 plays with decoder %s',
  async decoder => {
    const media = await serveMedia()
    const control = await media.connectControl()
    const path = join(media.folder, 'clip.mp4')
    makeVideo(path, { codec: 'h265' })
    await control.apply(createDesiredSource({ id: 1, type: 'inf', url: path, views, decoder }))
    await control.message('frame')
  },
)
