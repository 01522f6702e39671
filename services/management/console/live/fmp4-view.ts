import type { StreamInfo } from '@eyrie/contract/live-stream'
import { signal } from '@preact/signals'
import { connect } from '../api/socket.ts'
import { createFeed, type Feed } from './feed.ts'
import { keepAtEdge, targetDelay } from './live-edge.ts'
import type { LiveView, LiveViewOptions, LiveViewState } from './live-view.ts'
import { followFrames } from './shown-frames.ts'

const STEADY_MS = 40
const CHECK_MS = 1_000
const SILENCE_MS = 10_000

/** Plays a live stream as fragmented MP4 over WebSocket, near its live edge, whatever happens on the way. */
export function openFmp4View({
  video,
  stream,
  sounding,
  lateness,
  onFrame,
  onUnable,
}: LiveViewOptions): LiveView {
  const state = signal<LiveViewState>({ kind: 'connecting' })
  let info: StreamInfo | undefined
  let feed: Feed | undefined
  let connected = false
  let silentChecks = 0
  let jumpedAtMs = 0
  let jumpCost = 0

  const connection = connect({
    path: () => `/live/streams/${stream}/ws?codecs=${playedCodecs(sounding)}`,
    onMessage(data) {
      silentChecks = 0
      if (typeof data === 'string') receiveInfo(JSON.parse(data))
      else receiveSegment(data)
    },
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
    lateness.pictureArrived(fragment.pts, performance.now())
  }

  function follow() {
    if (!connected || !info || !feed) return
    // Who listens goes on listening when he looks elsewhere.
    if (document.hidden && !sounding) return feed.keepNewest()
    const edge = feed.edge()
    if (edge === undefined || video.seeking) return
    const ranges = Array.from({ length: video.buffered.length }, (_, i) => rangeOf(video.buffered, i))
    const wanted = targetDelay(lateness.p95Ms(), sounding)
    const correction = keepAtEdge({
      position: video.currentTime,
      ranges,
      edge,
      targetDelay: wanted,
      jumpCost,
      audible: sounding,
    })
    if (!correction) return
    if ('seekTo' in correction) jump(correction.seekTo)
    else video.playbackRate = correction.rate
    // A browser may pause what plays in the background; it may also refuse to go on, then the next fragment asks again.
    if (video.paused) video.play().catch(() => {})
    const { width, height } = info
    tell({ kind: 'playing', width, height, delayMs: Math.max(0, edge - video.currentTime) * 1000 })
  }

  function jump(to: number) {
    jumpedAtMs = performance.now()
    video.currentTime = to
  }

  const onSeeked = () => {
    jumpCost = (performance.now() - jumpedAtMs) / 1000
    follow()
  }

  /** A network that is gone closes nothing. */
  const watch = setInterval(() => {
    silentChecks += 1
    if (connected && silentChecks > SILENCE_MS / CHECK_MS)
      connection.drop(`no picture has come for ${SILENCE_MS / 1000} seconds`)
  }, CHECK_MS)
  video.addEventListener('seeked', onSeeked)
  document.addEventListener('visibilitychange', follow)

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
      clearInterval(watch)
      video.removeEventListener('seeked', onSeeked)
      document.removeEventListener('visibilitychange', follow)
      unfollow()
      connection.close()
      video.removeAttribute('src')
      video.load()
    },
  }
}

const canPlay = (type: string) => 'MediaSource' in globalThis && MediaSource.isTypeSupported(type)

/** H.265 comes as it is where the browser plays its main profile, and is transcoded where not. */
function playedCodecs(sounding: boolean): string {
  const playsHevc = canPlay('video/mp4; codecs="hvc1.1.6.L120.90"')
  return ['h264', ...(playsHevc ? ['h265'] : []), ...(sounding ? ['aac'] : [])].join(',')
}

const rangeOf = (ranges: TimeRanges, index: number) => [ranges.start(index), ranges.end(index)] as const
