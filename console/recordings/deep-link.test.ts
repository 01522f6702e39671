import { signal } from '@preact/signals'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { keepUrlAtPosition } from './deep-link.ts'

const FRAME_MS = 40
/** Longer than the URL waits for the next frame. */
const PAUSE_MS = 1000

describe('link to the frame on display', () => {
  let urls: string[]
  beforeEach(() => {
    urls = []
    vi.useFakeTimers()
    // The history of a browser, which Node does not have.
    vi.stubGlobal('history', {
      replaceState: (_: unknown, __: string, url: string) => urls.push(url),
    })
    onTestFinished(() => {
      vi.useRealTimers()
      vi.unstubAllGlobals()
    })
  })

  function open({ playing = false } = {}) {
    const position = signal<number | undefined>(0)
    const isPlaying = signal(playing)
    const close = keepUrlAtPosition(7, { position, isPlaying })
    onTestFinished(close)
    return { position, isPlaying, close }
  }

  it('changes the URL once after many frames in a row', () => {
    const { position } = open()
    for (let n = 1; n <= 200; n++) {
      position.value = n * FRAME_MS
      vi.advanceTimersByTime(FRAME_MS)
    }
    vi.advanceTimersByTime(PAUSE_MS)
    expect(urls).toEqual(['/recordings/7?at=1970-01-01T00:00:08.000Z'])
  })

  it('follows playback only once it is paused', () => {
    const { position, isPlaying } = open({ playing: true })
    position.value = FRAME_MS
    vi.advanceTimersByTime(PAUSE_MS)
    expect(urls).toEqual([])
    isPlaying.value = false
    vi.advanceTimersByTime(PAUSE_MS)
    expect(urls).toEqual(['/recordings/7?at=1970-01-01T00:00:00.040Z'])
  })

  it('does not change the URL of the next page', () => {
    const { close } = open()
    close()
    vi.advanceTimersByTime(PAUSE_MS)
    expect(urls).toEqual([])
  })
})
