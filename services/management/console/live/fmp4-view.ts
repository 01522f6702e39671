import type { StreamInfo } from '@eyrie/contract/media'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { signal } from '@preact/signals'
import { connect } from '../api/socket.ts'
import { createFeed, type Feed } from './feed.ts'
import { keepAtEdge, targetDelay } from './live-edge.ts'
import type { LiveView, LiveViewOptions, LiveViewState } from './live-view.ts'
import { followFrames } from './shown-frames.ts'

const STEADY_MS = 40

/** Plays a live stream as fragmented MP4 over WebSocket, near its live edge, whatever happens on the way. */
export function openFmp4View({ video, stream, lateness, onFrame, onUnable }: LiveViewOptions): LiveView {
  const state = signal<LiveViewState>({ kind: 'connecting' })
  let info: StreamInfo | undefined
  let feed: Feed | undefined
  let connected = false
  let frameMs = 0

  const connection = connect({
    path: () => `/live/streams/${stream}/ws`,
    onMessage: data => (typeof data === 'string' ? receiveInfo(JSON.parse(data)) : receiveSegment(data)),
    onLost: lose,
  })

  const unfollow = followFrames(video, (picture, mediaTime) => {
    const pts = feed?.timeline?.ptsAt(mediaTime)
    onFrame(picture, info && pts !== undefined ? { epoch: info.epoch, pts } : undefined)
  })

  function lose(reason: string) {
    connected = false
    state.value = { kind: 'lost', reason }
  }

  function receiveInfo(next: StreamInfo) {
    const type = `video/mp4; codecs="${next.codecs}"`
    const goesOn = connected && info?.epoch === next.epoch
    if (!canPlay(type)) {
      const reason = `this browser cannot play ${next.codecs}`
      onUnable(reason)
      return connection.drop(reason)
    }
    if (goesOn) feed?.changeType(type)
    else feed = openFeed(type)
    info = next
    connected = true
  }

  function openFeed(type: string): Feed {
    const opened = createFeed({
      video,
      type,
      onAppended: follow,
      onEnded: reason => {
        if (feed === opened) connection.drop(reason)
      },
    })
    return opened
  }

  function receiveSegment(segment: ArrayBuffer) {
    const fragment = feed?.append(segment)
    if (!fragment) return
    frameMs = (fragment.duration * 1000) / TICKS_PER_SECOND
    lateness.pictureArrived(fragment.pts, performance.now())
  }

  function follow() {
    if (!connected || !info || video.seeking) return
    const ranges = Array.from({ length: video.buffered.length }, (_, i) => rangeOf(video.buffered, i))
    const correction = keepAtEdge({
      position: video.currentTime,
      ranges,
      targetDelay: targetDelay(frameMs, lateness.p95Ms()),
    })
    if (!correction) return
    if ('seekTo' in correction) video.currentTime = correction.seekTo
    else video.playbackRate = correction.rate
    // A browser may pause what plays in the background; it may also refuse to go on, then the next fragment asks again.
    if (video.paused && !document.hidden) video.play().catch(() => {})
    tell({
      kind: 'playing',
      width: info.width,
      height: info.height,
      delayMs: (ranges.at(-1)![1] - video.currentTime) * 1000,
    })
  }

  /** People read it: it changes only when something has really changed. */
  function tell(next: LiveViewState & { kind: 'playing' }) {
    const before = state.value
    const isSame =
      before.kind === 'playing' &&
      before.width === next.width &&
      before.height === next.height &&
      Math.abs(before.delayMs - next.delayMs) < STEADY_MS
    if (!isSame) state.value = next
  }

  return {
    state,
    close() {
      unfollow()
      connection.close()
      video.removeAttribute('src')
      video.load()
    },
  }
}

const canPlay = (type: string) => 'MediaSource' in globalThis && MediaSource.isTypeSupported(type)

const rangeOf = (ranges: TimeRanges, index: number) => [ranges.start(index), ranges.end(index)] as const
