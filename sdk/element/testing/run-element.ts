import type { Counters, DetectedObject, EventData } from '@eyrie/contract/object'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { Element } from '../define.ts'
import type { Frame, FrameResult, Picture } from '../frame.ts'

/** A frame, with its picture for elements that read pixels. */
export type FrameInput = Frame | { frame: Frame; picture: Picture }

/** An event, and the stream time of its frame in seconds. */
export type RunEvent = EventData & { seconds: number }

/** What an element has returned for a sequence of frames. */
export interface Run {
  results: { frame: Frame; result: FrameResult }[]
  events: RunEvent[]
  /** The counters after the last frame. */
  counters: Counters
  /** The objects that the element passes on after the last frame. */
  objects: readonly DetectedObject[]
}

/** Processes frames in order, and collects the results. The element remains open. */
export async function runElement(
  element: Element,
  frames: Iterable<FrameInput> | AsyncIterable<FrameInput>,
): Promise<Run> {
  const run: Run = { results: [], events: [], counters: {}, objects: [] }
  for await (const input of frames) {
    const { frame, picture } = 'frame' in input ? input : { frame: input, picture: undefined }
    const result = await element.process(frame, picture)
    run.results.push({ frame, result })
    for (const event of result.events ?? []) {
      run.events.push({ ...event, seconds: frame.pts / TICKS_PER_SECOND })
    }
    for (const [name, counter] of Object.entries(result.counters ?? {})) {
      run.counters[name] = { ...run.counters[name], ...counter }
    }
    run.objects = result.objects ?? frame.objects
  }
  return run
}
