import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createTurnableClock } from '../../../../test/fixtures/clock.ts'
import { view, wantSource } from '../../../../test/fixtures/control.ts'
import { serveMedia } from '../../../../test/fixtures/serve-media.ts'
import { makeSound, makeVideo } from '../../../../test/fixtures/video.ts'

const LONGEST_BACKOFF_MS = 30_000
const views = { grey: view({ format: 'GRAY8', width: 64 }) }

/** What may lie where a video should, and what is to be said of it. */
const broken: [what: string, make: (path: string) => void, reason: RegExp][] = [
  ['a path that does not exist', () => {}, /does not exist: put it there/],
  ['a file of zero bytes', path => writeFileSync(path, ''), /is empty/],
  ['text', path => writeFileSync(path, 'This is no video. '.repeat(100)), /is no video that can be played/],
  [
    'noise',
    path =>
      writeFileSync(
        path,
        Uint8Array.from({ length: 5000 }, (_, i) => (i * i * 31) % 251),
      ),
    /is no video/,
  ],
  ['a folder', path => mkdirSync(path), /is a folder/],
  ['sound without a picture', makeSound, /there is no video in it/],
  [
    'a video cut off before its index',
    path => cutOff(path, { fastStart: false }),
    /is no video that can be played/,
  ],
  ['a link that leads out', path => symlinkSync('/etc/hostname', path), /lies outside the allowed folders/],
]

function cutOff(path: string, video: { fastStart: boolean }) {
  makeVideo(path, { ...video, frames: 60, pattern: 'snow' })
  const whole = readFileSync(path)
  writeFileSync(path, whole.subarray(0, whole.length / 2))
}

describe('where a video should be', () => {
  test.each(broken)('%s fails the source with the reason, and no other', async (_, make, reason) => {
    const media = await serveMedia()
    const control = await media.control()
    const path = join(media.folder, 'clip.mp4')
    make(path)
    const good = wantSource({ id: 9, type: 'inf', url: 'test://ball', views })
    await control.apply(
      good,
      wantSource({ id: 1, type: 'file', url: path, views }),
      wantSource({ id: 2, type: 'inf', url: path, views, decoder: 'gst' }),
      wantSource({ id: 3, type: 'file', url: path, views, pacing: 'all' }),
    )
    for (const id of [1, 2, 3]) {
      const status = await control.status(id, ({ state }) => state === 'failed')
      expect(status.reason).toMatch(reason)
      expect(status.reason).toContain(path)
    }
    await control.next('frame', ({ source }) => source === 9)
    expect((await fetch(`${media.url}/streams/1`)).status).toBe(503)
  })

  test('a video that was cut off plays as far as it goes', async () => {
    const media = await serveMedia()
    const control = await media.control()
    const path = join(media.folder, 'clip.mp4')
    cutOff(path, { fastStart: true })
    await control.apply(wantSource({ id: 1, type: 'file', url: path, views }))
    await control.status(1, ({ state }) => state === 'ended')
    const packets = await media.metric('eyrie_media_packets_total', '{source="1"}')
    expect(packets).toBeGreaterThan(5)
    expect(packets).toBeLessThan(60)
  })

  test.each(['file', 'inf'] as const)('a %s that comes later is played then', async type => {
    const clock = createTurnableClock()
    const media = await serveMedia({ clock })
    const control = await media.control()
    const [elsewhere, path] = [join(media.folder, 'elsewhere.mp4'), join(media.folder, 'clip.mp4')]
    makeVideo(elsewhere)
    await control.apply(wantSource({ id: 1, type, url: path, views }))
    await control.status(1, ({ state }) => state === 'failed')
    renameSync(elsewhere, path)
    clock.advance(LONGEST_BACKOFF_MS)
    const status = await control.status(1, ({ state }) => state === 'running')
    expect(status.reason).toBeUndefined()
  })
})

test.each([
  ['video', 'ftp://127.0.0.1/cam', /is no RTSP address/],
  ['video', '/dev/video987', /does not exist: plug the camera in/],
  ['hosted_video', 'rtsp://127.0.0.1/streams/1', /is none of HTTP/],
  ['video', 'rtsp://', /is no RTSP address/],
  ['inf', 'test://nonsense', /names no test pattern/],
  ['file', 'https://host/clip.mp4', /names no local file/],
  ['file', '/etc/passwd', /lies outside the allowed folders/],
] as const)('a %s source at %s fails with the reason', async (type, url, reason) => {
  const media = await serveMedia()
  const control = await media.control()
  await control.apply(wantSource({ id: 1, type, url, views }))
  const status = await control.status(1, ({ state }) => state === 'failed' || state === 'reconnecting')
  expect(status.reason).toMatch(reason)
})

test('a codec that gst_h264 does not know fails the source, and plays with gst', async () => {
  const media = await serveMedia()
  const control = await media.control()
  const path = join(media.folder, 'clip.mp4')
  makeVideo(path, { codec: 'h265' })
  const source = wantSource({ id: 1, type: 'inf', url: path, views })
  await control.apply(source, { ...source, id: 2, decoder: 'gst' })
  const { reason } = await control.status(1, ({ state }) => state === 'failed')
  expect(reason).toBe(`${path} is h265, which decoder gst_h264 does not know: choose gst`)
  await control.message('frame', frame => frame.source === 2)
})
