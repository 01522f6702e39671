import { useEffect } from 'preact/hooks'
import type { Playback } from './playback/playback.ts'

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
export function useDeepLink(stream: number, playback: Playback | undefined): void {
  useEffect(() => {
    if (!playback) return
    const { position, isPlaying } = playback
    const updateUrl = () => {
      if (isPlaying.value || position.value === undefined) return
      history.replaceState(
        null,
        '',
        `/recordings/${stream}?at=${new Date(position.value).toISOString()}`,
      )
    }
    const unsubscribes = [position.subscribe(updateUrl), isPlaying.subscribe(updateUrl)]
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe()
    }
  }, [stream, playback])
}
