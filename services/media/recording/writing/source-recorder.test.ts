import type { Recording } from '@eyrie/contract'
import { describe, expect, test } from 'vitest'
import { createStream, type Track } from '../../stream/live-stream.ts'
import { createTestSegmenter, FPS, track, unit } from './segmenter.fixture.ts'
import { createRecorder } from './source-recorder.ts'

const aroundEvents: Recording = { mode: 'event', before_s: 2, after_s: 2, sound: false }
const TICKS = 90_000

function record() {
  const { segmenter, writer, contents } = createTestSegmenter()
  const stream = createStream<Track>(7)
  stream.begin(track)
  const recorder = createRecorder({ stream, sound: undefined }, segmenter, aroundEvents)
  let written = 0
  return {
    /** Pictures come up to so many seconds of stream time. */
    playTo(seconds: number) {
      while (written < seconds * FPS) stream.write(unit(written++))
    },
    ring(seconds: number) {
      const time = new Date(0).toISOString()
      recorder.addEvent({ source: 1, channel: 3, pts: seconds * TICKS, time, data: { type: 'bell' } })
    },
    status: recorder.status,
    /** The numbers of all units that were recorded, when it is over. */
    async recorded() {
      recorder.stop()
      await writer.drain()
      return contents().flatMap(({ info, fragments }) =>
        fragments.flatMap(({ samples }) => samples.map(({ dts }) => ((info.pts + dts) * FPS) / TICKS)),
      )
    },
  }
}

/** Units of all groups from one second up to another. */
const from = (first: number, end: number) =>
  Array.from({ length: (end - first) * FPS }, (_, i) => first * FPS + i)

describe('around an event', () => {
  test.each([0.2, 1, 1.8, 3, 4.4, 5])('that is told %s s late, whole groups are recorded', async late => {
    const { playTo, ring, status, recorded } = record()
    playTo(5.5 + late)
    expect(status().state).toBe('waiting')
    ring(5.5)
    playTo(20)
    expect(status().state).toBe('waiting')
    // The keyframe before 3.5 s, and the one after 7.5 s.
    expect(await recorded()).toEqual(from(3, 8))
  })

  test('that is told too late, what is still there is recorded', async () => {
    const { playTo, ring, recorded } = record()
    playTo(13)
    ring(5.5)
    playTo(20)
    expect(await recorded()).toEqual(from(5, 8))
  })

  test.each([0, 1, 2.4, 5])('that rings again, told %s s late, nothing is recorded twice', async late => {
    const { playTo, ring, recorded } = record()
    playTo(5 + late)
    ring(4.5)
    ring(5)
    playTo(9 + late)
    ring(9)
    playTo(20)
    expect(await recorded()).toEqual(from(2, 12))
  })
})
