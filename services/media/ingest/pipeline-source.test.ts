import { join } from 'node:path'
import type { SourceStatus } from '@eyrie/contract'
import { expect, it, vi } from 'vitest'
import { createViewSpec } from '../../../test/fixtures/media/control-client.ts'
import { makeVideo } from '../../../test/fixtures/media/test-video.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { playSource } from './play-source.fixture.ts'

interface Playing {
  type?: 'file' | 'inf'
  keyframeInterval?: number
  /** Adds the view only after the first packet has passed. */
  late?: boolean
}

/**
 * Plays a clip of one second with only these decoders available, best first. The clip
 * is looped by default.
 */
async function playWith(
  decoders: string[],
  { type = 'inf', keyframeInterval, late = false }: Playing = {},
) {
  const url = join(createTemporaryFolder(), 'clip.mp4')
  makeVideo(url, { frames: 30, keyframeInterval })
  const statuses: SourceStatus[] = []
  const frame = Promise.withResolvers<void>()
  const failed = Promise.withResolvers<void>()
  const source = await playSource({
    type,
    url,
    decoder: 'gst_h264',
    decoders: { h264: decoders, elementsFor: () => decoders },
    listener: {
      onStatus(status) {
        statuses.push(status)
        if (status.state === 'failed') failed.resolve()
      },
      onView() {},
      onViewFailed() {},
      onFrame: () => frame.resolve(),
    },
  })
  if (late) {
    await vi.waitUntil(() => source.status().state === 'running', { timeout: 60_000, interval: 1 })
  }
  await source.setViews({ grey: createViewSpec({ format: 'GRAY8' }) }, undefined)
  return { source, statuses, frame: frame.promise, failed: failed.promise }
}

const failsWhileDecoding = 'avdec_h264 ! identity error-after=3'
const rejectsH264 = 'theoradec'
const decoder = 'avdec_h264'

it.each([
  ['fails while decoding', failsWhileDecoding],
  ['rejects the stream', rejectsH264],
])('replaces a decoder that %s by the next best one', async (_, broken) => {
  const { source, statuses, frame } = await playWith([broken, 'avdec_h264'])
  await frame
  await expect.poll(() => source.status().decoder).toBe('avdec_h264')
  expect(statuses.filter(({ state }) => state === 'failed')).toEqual([])
})

it('decodes with OpenH264 if libavcodec is not available', async () => {
  const { source, frame } = await playWith(['openh264dec'])
  await frame
  expect(source.status()).toMatchObject({ state: 'running', decoder: 'openh264dec' })
})

it('fails when all decoders have failed, with the name of the last decoder', async () => {
  const { source, failed } = await playWith([rejectsH264, failsWhileDecoding])
  await failed
  expect(source.status().reason).toContain(`cannot be decoded by ${failsWhileDecoding}`)
})

it('decoding that starts after the last keyframe begins with the next loop, without a decoder failure', async () => {
  const { source, statuses, frame } = await playWith([decoder, rejectsH264], {
    keyframeInterval: 30,
    late: true,
  })
  await frame
  expect(source.status().decoder).toBe(decoder)
  expect(statuses.filter(({ state }) => state === 'failed')).toEqual([])
})

it('a file ends, and is not played again, if decoding starts after the last keyframe', async () => {
  const { source } = await playWith([decoder, rejectsH264], {
    type: 'file',
    keyframeInterval: 30,
    late: true,
  })
  await expect.poll(() => source.status().state).toBe('ended')
  expect(source.stats().packets).toBe(30)
})
