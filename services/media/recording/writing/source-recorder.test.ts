import type { Recording } from '@eyrie/contract'
import { describe, expect, it } from 'vitest'
import { createStream, type Track } from '../../stream/live-stream.ts'
import { createTestSegmenter, FPS, track, unit } from './segmenter.fixture.ts'
import { createRecorder } from './source-recorder.ts'

const aroundEvents: Recording = { mode: 'event', before_s: 2, after_s: 2, sound: false }
const TICKS = 90_000

const continuous: Recording = { mode: 'continuous', before_s: 0, after_s: 0, sound: false }

function record(recording = aroundEvents) {
  const { segmenter, queue, contents } = createTestSegmenter()
  const stream = createStream<Track>(7)
  stream.begin(track)
  const recorder = createRecorder({ stream, sound: undefined }, segmenter, recording)
  let written = 0
  return {
    /** Writes pictures up to this stream time. */
    playTo(seconds: number) {
      while (written < seconds * FPS) stream.write(unit(written++))
    },
    ring(seconds: number) {
      const time = new Date(0).toISOString()
      recorder.addEvent({
        source: 1,
        channel: 3,
        pts: seconds * TICKS,
        time,
        data: { type: 'bell' },
      })
    },
    /** Lets time pass in which the source is silent. */
    wait(seconds: number) {
      for (let second = 0; second < seconds; second++) recorder.checkSilence()
    },
    /** Returns the number of units in closed segments. */
    async countClosed() {
      await queue.drain()
      return contents().flatMap(({ fragments }) => fragments.flatMap(({ pictures }) => pictures))
        .length
    },
    status: recorder.status,
    /** Stops and returns the numbers of all recorded units. */
    async recorded() {
      recorder.stop()
      await queue.drain()
      return contents().flatMap(({ info, fragments }) =>
        fragments.flatMap(({ pictures }) =>
          pictures.map(({ dts }) => ((info.pts + dts) * FPS) / TICKS),
        ),
      )
    },
  }
}

/** Numbers of the units from one second up to another. */
const unitsBetween = (first: number, end: number) =>
  Array.from({ length: (end - first) * FPS }, (_, i) => first * FPS + i)

describe('recorder in event mode', () => {
  it.each([0.2, 1, 1.8, 3, 4.4, 5])(
    'records whole GOPs around an event that arrives %s s late',
    async late => {
      const { playTo, ring, status, recorded } = record()
      playTo(5.5 + late)
      expect(status().state).toBe('waiting')
      ring(5.5)
      playTo(20)
      expect(status().state).toBe('waiting')
      // The keyframe before 3.5 s, and the one after 7.5 s.
      expect(await recorded()).toEqual(unitsBetween(3, 8))
    },
  )

  it('records the buffered packets for an event that arrives too late', async () => {
    const { playTo, ring, recorded } = record()
    playTo(13)
    ring(5.5)
    playTo(20)
    expect(await recorded()).toEqual(unitsBetween(5, 8))
  })

  it.each([0, 1, 2.4, 5])(
    'records no picture twice for overlapping events that arrive %s s late',
    async late => {
      const { playTo, ring, recorded } = record()
      playTo(5 + late)
      ring(4.5)
      ring(5)
      playTo(9 + late)
      ring(9)
      playTo(20)
      expect(await recorded()).toEqual(unitsBetween(2, 12))
    },
  )
})

describe('continuous recorder', () => {
  it('waits, with everything on the disk, when its source is silent for ten seconds', async () => {
    const { playTo, wait, status, countClosed } = record(continuous)
    playTo(3.4)
    wait(9)
    expect(status().state).toBe('recording')
    wait(1)
    expect(status().state).toBe('waiting')
    expect(await countClosed()).toBe(3.4 * FPS)
    playTo(5)
    expect(status().state).toBe('recording')
  })

  it('continues at once after a shorter pause, also in the middle of a GOP', async () => {
    const { playTo, wait, recorded } = record(continuous)
    playTo(3.4)
    wait(9)
    playTo(5)
    wait(9)
    playTo(7)
    expect(await recorded()).toEqual(unitsBetween(0, 7))
  })
})
