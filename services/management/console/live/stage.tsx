import type { LiveChannel } from '@eyrie/contract/live'
import { useEffect, useRef, useState } from 'preact/hooks'
import { capitalised, milliseconds, rate } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { openFirstAble } from './first-able.ts'
import { openFmp4View } from './fmp4-view.ts'
import type { LiveView } from './live-view.ts'
import { createOverlay } from './overlay.ts'
import type { Session } from './session.ts'
import { openWebRtcView } from './webrtc-view.ts'
import './stage.css'

interface StageProps {
  channel: LiveChannel
  session: Session
}

/** Ways for the picture to come, the better ones first. */
const ways: Parameters<typeof openFirstAble>[0] = [openWebRtcView, openFmp4View]

/** The live picture with what was found drawn over it. */
export function Stage({ channel, session }: StageProps) {
  const video = useRef<HTMLVideoElement>(null)
  const picture = useRef<HTMLCanvasElement>(null)
  const boxes = useRef<HTMLCanvasElement>(null)
  const shapes = useRef(channel.shapes)
  shapes.current = channel.shapes
  const [view, setView] = useState<LiveView>()

  useEffect(() => {
    if (channel.stream === null) return
    const { metadata, lateness } = session
    const overlay = createOverlay({
      picture: picture.current!,
      boxes: boxes.current!,
      metadata,
      shapes: () => shapes.current,
    })
    const view = openFirstAble(ways, {
      video: video.current!,
      stream: channel.stream,
      lateness,
      onFrame: overlay.show,
    })
    const unsubscribe = session.onMetadata(overlay.metadataArrived)
    setView(view)
    return () => {
      unsubscribe()
      view.close()
      overlay.close()
    }
  }, [channel.stream, session])

  const state = view?.state.value
  const shape = state?.kind === 'playing' ? state.width / state.height : undefined
  return (
    <>
      <div class="stage" style={{ '--shape': shape }}>
        <video ref={video} muted playsInline aria-hidden />
        <canvas
          ref={picture}
          class="frame"
          role="img"
          aria-label={`Live picture of ${channel.source.name}`}
        />
        <canvas ref={boxes} class="boxes" />
        {channel.stream === null && <Notice title="This channel has no live picture" />}
        {state?.kind === 'connecting' && <Notice title="Waiting for the picture…" />}
        {state?.kind === 'lost' && <Notice alarming title={`${capitalised(state.reason)}, retrying`} />}
      </div>
      <dl class="gauges">
        <Gauge name="Analysed" value={rate(channel.fps)} unit="frames/s" />
        <Gauge name="Analysis latency" value={milliseconds(channel.latency)} />
        <Gauge name="Live delay" value={state?.kind === 'playing' ? milliseconds(state.delayMs) : '–'} />
        <Gauge name="Objects" value={String(session.objects.value)} />
      </dl>
    </>
  )
}

function Gauge({ name, value, unit }: { name: string; value: string; unit?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value} {unit && <small>{unit}</small>}
      </dd>
    </div>
  )
}
