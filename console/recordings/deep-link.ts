import { useEffect } from 'preact/hooks'
import type { Playback } from './playback/playback.ts'

/** Returns the time in the query of the address (`?at=…`), in ms since 1970. */
export function readLinkedTime(): number | undefined {
  const text = new URLSearchParams(location.search).get('at')
  const timeMs = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(timeMs) ? undefined : timeMs
}

/** Writes the position of paused playback to the address, so that the address links to the frame on display. */
export function useDeepLink(stream: number, playback: Playback | undefined): void {
  useEffect(() => {
    if (!playback) return
    const { position, isPlaying } = playback
    const updateAddress = () => {
      if (isPlaying.value || position.value === undefined) return
      history.replaceState(null, '', `/recordings/${stream}?at=${new Date(position.value).toISOString()}`)
    }
    const unsubscribes = [position.subscribe(updateAddress), isPlaying.subscribe(updateAddress)]
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe()
    }
  }, [stream, playback])
}
