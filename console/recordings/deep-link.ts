import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Viewing } from './playback/recording-player.ts'

/** Stands in for a position before there is a playback. */
export const nowhere = signal<number | undefined>(undefined)

/** The moment that the page's address names, in ms since 1970. */
export function placeInAddress(): number | undefined {
  const text = new URLSearchParams(location.search).get('at')
  const timeMs = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(timeMs) ? undefined : timeMs
}

/** Keeps the moment that is shown in the page's address, so that it can be passed on; not while it runs. */
export function usePlace(stream: number, viewing: Viewing | undefined): void {
  useEffect(() => {
    if (!viewing) return
    const { position, playing } = viewing.playback
    const note = () => {
      const here = position.value
      if (playing.value || here === undefined) return
      history.replaceState(null, '', `/recordings/${stream}?at=${new Date(here).toISOString()}`)
    }
    const leave = [position.subscribe(note), playing.subscribe(note)]
    return () => {
      for (const each of leave) each()
    }
  }, [stream, viewing])
}
