import { join } from 'node:path'
import type { SourceStatus } from '@eyrie/contract'
import { expect, test, vi } from 'vitest'
import { view } from '../../../test/fixtures/control.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'
import { makeVideo } from '../../../test/fixtures/video.ts'
import { playSource } from './play-source.fixture.ts'

interface Playing {
  type?: 'file' | 'inf'
  keyframeInterval?: number
  /** Pictures are wanted when the first packet has passed, and not before. */
  late?: boolean
}

/** Plays a clip of a second where these launch strings are all the decoders there are, best first; looped unless told otherwise. */
async function playWith(decoders: string[], { type = 'inf', keyframeInterval, late = false }: Playing = {}) {
  const url = join(temporaryFolder(), 'clip.mp4')
  makeVideo(url, { frames: 30, keyframeInterval })
  const statuses: SourceStatus[] = []
  const frame = Promise.withResolvers<void>()
  const failed = Promise.withResolvers<void>()
  const source = await playSource({
    type,
    url,
    decoder: 'gst_h264',
    decoders: { h264: decoders, of: () => decoders },
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
  if (late) await vi.waitUntil(() => source.status().state === 'running', { timeout: 20_000, interval: 1 })
  await source.want({ grey: view({ format: 'GRAY8' }) }, undefined)
  return { source, statuses, frame: frame.promise, failed: failed.promise }
}

const breaksDown = 'avdec_h264 ! identity error-after=3'
const takesNoH264 = 'theoradec'
const decoder = 'avdec_h264'

test.each([
  ['breaks down while it decodes', breaksDown],
  ['does not take the stream', takesNoH264],
])('a decoder that %s is followed by the next best', async (_, broken) => {
  const { source, statuses, frame } = await playWith([broken, 'avdec_h264'])
  await frame
  await expect.poll(() => source.status().decoder, { timeout: 10_000 }).toBe('avdec_h264')
  expect(statuses.filter(({ state }) => state === 'failed')).toEqual([])
})

test('OpenH264 stands in where there is no libavcodec', async () => {
  const { source, frame } = await playWith(['openh264dec'])
  await frame
  expect(source.status()).toMatchObject({ state: 'running', decoder: 'openh264dec' })
})

test('when no decoder is left the source fails, and says which was the last', async () => {
  const { source, failed } = await playWith([takesNoH264, breaksDown])
  await failed
  expect(source.status().reason).toContain(`cannot be decoded by ${breaksDown}`)
})

test('decoding that begins when no keyframe is left begins with the next turn, and no decoder is to blame', async () => {
  const { source, statuses, frame } = await playWith([decoder, takesNoH264], {
    keyframeInterval: 30,
    late: true,
  })
  await frame
  expect(source.status().decoder).toBe(decoder)
  expect(statuses.filter(({ state }) => state === 'failed')).toEqual([])
})

test('a file of which no keyframe is left when decoding begins ends, and is not played again', async () => {
  const { source } = await playWith([decoder, takesNoH264], {
    type: 'file',
    keyframeInterval: 30,
    late: true,
  })
  await expect.poll(() => source.status().state, { timeout: 10_000 }).toBe('ended')
  expect(source.stats().packets).toBe(30)
})
