import { readFile } from 'node:fs/promises'
import { counters, detectedObject } from '@eyrie/contract/object'
import { parseAs } from '@eyrie/contract/parse'
import { z } from 'zod'
import type { Frame } from '../frame.ts'

const MICROSECONDS_PER_MS = 1000

/** One line of a file that a `file` sink has written. */
const recordedFrame = z.object({
  channel: z.int(),
  n: z.int(),
  pts: z.int(),
  time: z.iso.datetime({ offset: true }),
  objects: z.array(detectedObject),
  counters,
})

export interface RecordingOptions {
  /** Reads the frames of this channel. By default those of the channel in the first line. */
  channel?: number
  /** Size of the source picture in pixels, which a recording does not contain. */
  width?: number
  height?: number
}

/**
 * Reads the frames of a recording, with the objects and counters of the pipeline that has recorded
 * it: a file with a JSON object per line, as a sink of the type `file` writes it.
 */
export async function readRecording(
  path: string,
  { channel, width = 1280, height = 720 }: RecordingOptions = {},
): Promise<Frame[]> {
  const lines = (await readFile(path, 'utf8')).split('\n')
  const records = lines.flatMap((line, index) =>
    line.trim() === '' ? [] : [parseLine(line, `${path}:${index + 1}: `)],
  )
  const selected = channel ?? records[0]?.channel
  return records
    .filter(record => record.channel === selected)
    .map(({ n, pts, time, objects, counters }) => ({
      n,
      pts,
      time: Date.parse(time) * MICROSECONDS_PER_MS,
      discontinuity: false,
      width,
      height,
      objects,
      lowScoreObjects: [],
      counters,
    }))
}

function parseLine(line: string, place: string) {
  try {
    return parseAs(recordedFrame, JSON.parse(line))
  } catch (cause) {
    throw new Error(`${place}${(cause as Error).message}`, { cause })
  }
}
