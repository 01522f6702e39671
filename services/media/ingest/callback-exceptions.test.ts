import { describe, expect, it, vi } from 'vitest'
import type { FrameReader } from '../decode/decoding.ts'
import { createPictureBranch } from '../decode/picture-branch.ts'
import { makeClip } from '../sound/sound-clip.fixture.ts'
import type { SourceListener } from '../sources/source.ts'
import { playSource } from './play-source.fixture.ts'

const PATIENCE = { timeout: 30_000 }
const fail = () => {
  throw new RangeError('the width is out of range')
}

/** Collects the reasons for which a source was lost. */
function collectReasons() {
  const reasons: string[] = []
  const listener: SourceListener = {
    ...{ onView() {}, onViewFailed() {}, onFrame() {} },
    onStatus({ reason }) {
      if (reason) reasons.push(reason)
    },
  }
  return { listener, reasons }
}

describe('exception while data of a source is processed', () => {
  it('in a listener to its sound stops only the sound', async () => {
    const { listener, reasons } = collectReasons()
    const url = makeClip({ sound: 'mulaw', seconds: 30 })
    const source = await playSource({ type: 'inf', url, listener })
    let units = 0
    const onUnit = vi.fn(fail)
    source.sound?.listenToAac({ begin: () => {}, unit: onUnit })
    source.sound?.listenToOpus({ begin: () => {}, unit: () => units++ })
    await vi.waitUntil(() => onUnit.mock.calls.length > 0, PATIENCE)
    const unitsBefore = units
    await vi.waitUntil(() => units > unitsBefore + 10, PATIENCE)
    expect(onUnit).toHaveBeenCalledOnce()
    expect(reasons).toEqual([])
  })

  it('in a reader of its pictures reconnects the source, with the reason', async () => {
    const { listener, reasons } = collectReasons()
    const source = await playSource({ type: 'inf', url: makeClip(), listener })
    const onSample = vi.fn().mockImplementationOnce(fail)
    const branch = createPictureBranch({
      getSize: () => ({}),
      describeBranch: () => ({
        launch: 'queue ! appsink name=read sync=false async=false',
        sink: 'read',
        options: { queue: 1, full: 'drop-oldest' },
      }),
      onSample: sample => {
        onSample()
        sample.release()
      },
    })
    const reader: FrameReader = { tee: 'pictures', ...branch, close: branch.remove }
    source.addFrameReader(reader)
    await vi.waitUntil(() => onSample.mock.calls.length > 10, PATIENCE)
    expect(reasons).toContainEqual(
      expect.stringMatching(/stopped: its data cannot be processed: the width is out of range$/),
    )
    expect(source.status().state).toBe('running')
  })
})
