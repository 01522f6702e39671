import { expect, it, vi } from 'vitest'
import { workingEncoder } from '../../../../test/fixtures/media/encoders.ts'
import { createAnnotator } from './annotator.ts'
import type { Frame } from './frame-buffer.ts'

it('fails, and accepts no more frames, when an encoded picture cannot be processed', async () => {
  const frame = (n: number): Frame => ({
    ...{ n, pts: n * 3000, width: 64, height: 48, fps: 30 },
    data: new Uint8Array((64 * 48 * 3) / 2),
  })
  const failures: string[] = []
  const annotator = await createAnnotator(frame(1), workingEncoder, {
    onTrack: () => {},
    onUnit() {
      throw new RangeError('the width is out of range')
    },
    onFailure: reason => failures.push(reason),
  })
  await annotator.render(frame(1), '<svg/>')
  await vi.waitUntil(() => failures.length > 0)
  expect(failures).toEqual(['its data cannot be processed: the width is out of range'])
  expect(annotator.accepts(frame(2))).toBe(false)
  await annotator.close()
})
