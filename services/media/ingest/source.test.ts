import { join } from 'node:path'
import type { SourceStatus } from '@eyrie/contract'
import { createLog } from '@eyrie/kit'
import { expect, onTestFinished, test } from 'vitest'
import { view } from '../../../test/fixtures/control.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'
import { makeVideo } from '../../../test/fixtures/video.ts'
import { systemClock } from '../clock.ts'
import { createRingFolder } from '../decode/ring-folder.ts'
import { createEncoders } from '../transcode/encoders.ts'
import { createSource } from './source.ts'

/** Plays a looped clip where these launch strings are all the decoders there are, best first. */
async function playWith(decoders: string[]) {
  const folder = temporaryFolder()
  const url = join(folder, 'clip.mp4')
  makeVideo(url, { frames: 30 })
  const rings = createRingFolder(join(folder, 'rings'))
  await rings.open()
  const statuses: SourceStatus[] = []
  const frame = Promise.withResolvers<void>()
  const failed = Promise.withResolvers<void>()
  const source = createSource({
    wanted: { id: 1, type: 'inf', address: { url }, decoder: 'gst_h264', pacing: 'realtime' },
    epoch: Date.now(),
    beginPts: 0,
    mediaRoots: [folder],
    rings,
    decoders: { h264: decoders, of: () => decoders },
    encoders: createEncoders(),
    clock: systemClock,
    random: Math.random,
    log: createLog('media', 'silent'),
    listener: {
      status(status) {
        statuses.push(status)
        if (status.state === 'failed') failed.resolve()
      },
      view() {},
      viewFailed() {},
      frame: () => frame.resolve(),
    },
  })
  onTestFinished(() => source.stop())
  await source.want({ grey: view({ format: 'GRAY8' }) }, undefined)
  return { source, statuses, frame: frame.promise, failed: failed.promise }
}

const breaksDown = 'avdec_h264 ! identity error-after=3'
const takesNoH264 = 'theoradec'

test.each([
  ['breaks down while it decodes', breaksDown],
  ['does not take the stream', takesNoH264],
])('a decoder that %s is followed by the next best', async (_, broken) => {
  const { source, statuses, frame } = await playWith([broken, 'avdec_h264'])
  await frame
  await expect.poll(() => source.status().decoder, { timeout: 10_000 }).toBe('avdec_h264')
  expect(statuses.filter(({ state }) => state === 'failed')).toEqual([])
})

test('when no decoder is left the source fails, and says which was the last', async () => {
  const { source, failed } = await playWith([takesNoH264, breaksDown])
  await failed
  expect(source.status().reason).toContain(`cannot be decoded by ${breaksDown}`)
})
