import type { BenchRequest } from '@eyrie/contract/plugin-bench'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { Frame } from '@eyrie/element'
import { createStream, readRecording, readSceneTruth } from '@eyrie/element/testing'

/** Returns the frame with a number, counted from 1: numbers and times always increase. */
export type FrameSource = (n: number) => Frame

const MICROSECONDS_PER_SECOND = 1_000_000
const OBJECTS = 10
const SECONDS_PER_PASS = 20

/**
 * Reads the frames of a file, which are repeated; without a file, ten people walk
 * through the picture.
 */
export async function createFrames({
  frames: file,
  fps,
}: Pick<BenchRequest, 'frames' | 'fps'>): Promise<FrameSource> {
  const recorded = file === undefined ? createWalk(fps) : await readFrames(file)
  if (recorded.length === 0) throw new Error(`${file} contains no frames`)
  return n => ({
    ...recorded[(n - 1) % recorded.length]!,
    n,
    pts: Math.round((n / fps) * TICKS_PER_SECOND),
    time: Math.round((n / fps) * MICROSECONDS_PER_SECOND),
  })
}

async function readFrames(file: string): Promise<readonly Frame[]> {
  if (file.endsWith('.truth.json')) return (await readSceneTruth(file)).frames
  return readRecording(file)
}

function createWalk(fps: number): Frame[] {
  const stream = createStream(fps)
  return Array.from({ length: Math.ceil(fps * SECONDS_PER_PASS) }, (_, index) => {
    const walked = index / fps / SECONDS_PER_PASS
    return stream.next(
      Array.from({ length: OBJECTS }, (_, track) => ({
        class: 'person',
        score: 0.8,
        bbox: {
          x: (walked + track / OBJECTS) % 0.9,
          y: 0.05 + (0.7 * track) / OBJECTS,
          w: 0.06,
          h: 0.15,
        },
        track: track + 1,
      })),
    )
  })
}
