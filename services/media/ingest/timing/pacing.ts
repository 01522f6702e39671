import type { Pipeline } from '../../node-gst/index.ts'

const NAME = 'pace'

/** Lets packets of what could be read faster through when they are due, counted from the first one. */
export const paceElement = `clocksync name=${NAME} sync-to-first=true`

/**
 * Whether the first packet is held back for hours. On the way to PLAYING an element is given its clock a moment before
 * its base time; who comes to `clocksync` in that moment is taken to be late by all the time that the clock shows.
 */
export function isMispaced(pipeline: Pipeline): boolean {
  const runningTime = pipeline.runningTime()
  return runningTime !== null && Number(pipeline.get(NAME, 'ts-offset')) > runningTime
}
