import { useEffect } from 'preact/hooks'
import type { Playback } from './playback/playback.ts'

/**
 * The URL is changed once playback has rested on a frame for this long. Safari and Firefox throw
 * after 100 changes in a short time, which a few seconds of stepping or dragging would exceed.
 */
const REST_MS = 500

/**
 * Returns the time in the URL of the page (`?at=2026-03-29T12:00:00Z`), in ms since 1970; undefined
 * without a valid one.
 */
export function readLinkedTime(): number | undefined {
  const text = new URLSearchParams(location.search).get('at')
  const timeMs = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(timeMs) ? undefined : timeMs
}

/**
 * Writes the position of paused playback to the URL of the page, so that the URL links to
 * the frame on display.
 */
export function useDeepLink(streamId: number, playback: Playback | undefined): void {
  useEffect(() => playback && keepUrlAtPosition(streamId, playback), [streamId, playback])
}

/** Keeps the URL at the position until the returned function is called. */
export function keepUrlAtPosition(
  streamId: number,
  { position, isPlaying }: Pick<Playback, 'position' | 'isPlaying'>,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const writeUrl = () => {
    if (isPlaying.value || position.value === undefined) return
    const at = new Date(position.value).toISOString()
    history.replaceState(null, '', `/recordings/${streamId}?at=${at}`)
  }
  const scheduleWrite = () => {
    clearTimeout(timer)
    timer = setTimeout(writeUrl, REST_MS)
  }

  const unsubscribes = [position.subscribe(scheduleWrite), isPlaying.subscribe(scheduleWrite)]
  return () => {
    clearTimeout(timer)
    for (const unsubscribe of unsubscribes) unsubscribe()
  }
}
