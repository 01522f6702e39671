import type { LiveChannel } from '@eyrie/contract/console-api'
import { useComputed, useSignal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { capitalised, milliseconds, rate } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { openFirstAble, type SwitchedView } from './first-able.ts'
import { openFmp4View } from './fmp4-view.ts'
import type { LiveViewState } from './live-view.ts'
import { createOverlay } from './overlay.ts'
import type { Session } from './session.ts'
import { SoundControl } from './sound-control.tsx'
import { volume } from './volume.ts'
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
  const videos = useRef<HTMLDivElement>(null)
  const picture = useRef<HTMLCanvasElement>(null)
  const boxes = useRef<HTMLCanvasElement>(null)
  const shapes = useRef(channel.shapes)
  shapes.current = channel.shapes
  const [view, setView] = useState<SwitchedView>()
  const hasSound = useSignal(channel.sound)
  const heard = useComputed(() => (hasSound.value ? volume.value : 0))
  useEffect(() => {
    hasSound.value = channel.sound
  }, [channel.sound, hasSound])

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
      createVideo: () => addVideo(videos.current!),
      volume: heard,
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
  }, [channel.stream, session, heard])

  const state = view?.state.value
  const shape = state?.kind === 'playing' ? state.width / state.height : undefined
  return (
    <>
      <div class="stage" style={{ '--shape': shape }}>
        <div ref={videos} class="videos" aria-hidden />
        <canvas
          ref={picture}
          class="frame"
          role="img"
          aria-label={`Live picture of ${channel.source.name}`}
        />
        <canvas ref={boxes} class="boxes" />
        {channel.sound && <SoundControl hearing={view?.hearing} />}
        {channel.stream === null && <Notice title="This channel has no live picture" />}
        {state && <StateNotice state={state} isLost={channel.source.attempts !== undefined} />}
      </div>
      <dl class="gauges">
        <Gauge name="Analysed" value={rate(channel.fps)} unit="frames/s" />
        <Gauge name="Analysis latency" value={channel.fps > 0 ? milliseconds(channel.latency) : '–'} />
        <Gauge name="Live delay" value={state?.kind === 'playing' ? milliseconds(state.delayMs) : '–'} />
        <Gauge name="Objects" value={String(session.objects.value)} />
      </dl>
    </>
  )
}

/** Why there is no picture, or none that moves. */
function StateNotice({ state, isLost }: { state: LiveViewState; isLost: boolean }) {
  if (state.kind === 'lost') return <Notice alarming title={`${capitalised(state.reason)}, retrying`} />
  if (isLost) return <Notice alarming title="The source sends no picture" />
  return state.kind === 'connecting' ? <Notice title="Waiting for the picture…" /> : null
}

/** It only decodes: what is seen is the canvas over it. */
function addVideo(parent: HTMLElement): HTMLVideoElement {
  const video = document.createElement('video')
  video.muted = true
  video.playsInline = true
  parent.append(video)
  return video
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
