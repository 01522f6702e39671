import { useEffect, useRef, useState } from 'preact/hooks'
import type { TimeSpan } from '../playback/recorded-ranges.ts'
import { pan, zoomAt } from './timeline-scale.ts'

interface TimelineGestures {
  span: TimeSpan
  limits: TimeSpan
  onSpan(span: TimeSpan): void
  onSeek(timeMs: number): void
}

/** A pointer that moved no further than this has clicked. */
const MAX_CLICK_TRAVEL_PX = 5
const ZOOM_PER_WHEEL_PX = 0.0022

/** A click seeks, a drag pans, the wheel and a pinch zoom. Returns the time under the mouse pointer. */
export function useTimelineGestures(
  element: { current: HTMLElement | null },
  gestures: TimelineGestures,
): number | undefined {
  const current = useRef(gestures)
  current.current = gestures
  const [hoveredMs, setHoveredMs] = useState<number>()

  useEffect(() => {
    const track = element.current!
    /** Last position of each pointer that is down, by pointer id. */
    const pointers = new Map<number, number>()
    let travelPx = 0

    const toTime = (clientX: number) => {
      const { left, width } = track.getBoundingClientRect()
      const { from, to } = current.current.span
      return from + ((clientX - left) / width) * (to - from)
    }
    const msPerPx = () => {
      const { from, to } = current.current.span
      return (to - from) / track.getBoundingClientRect().width
    }

    function onDown(event: PointerEvent) {
      if (event.button !== 0) return
      track.setPointerCapture(event.pointerId)
      if (pointers.size === 0) travelPx = 0
      pointers.set(event.pointerId, event.clientX)
    }

    function onMove(event: PointerEvent) {
      const { span, limits, onSpan } = current.current
      setHoveredMs(event.pointerType === 'mouse' ? toTime(event.clientX) : undefined)
      const lastX = pointers.get(event.pointerId)
      if (lastX === undefined) return
      const movedPx = event.clientX - lastX
      travelPx += Math.abs(movedPx)
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId)
      pointers.set(event.pointerId, event.clientX)
      if (other) {
        const [, otherX] = other
        const factor = Math.abs(lastX - otherX) / Math.max(1, Math.abs(event.clientX - otherX))
        onSpan(zoomAt(span, factor, toTime(otherX), limits))
      } else if (travelPx > MAX_CLICK_TRAVEL_PX) onSpan(pan(span, -movedPx * msPerPx(), limits))
    }

    function onUp(event: PointerEvent) {
      const wasDown = pointers.delete(event.pointerId)
      const isClick = wasDown && pointers.size === 0 && travelPx <= MAX_CLICK_TRAVEL_PX
      if (isClick && event.type === 'pointerup') current.current.onSeek(toTime(event.clientX))
    }

    function onWheel(event: WheelEvent) {
      event.preventDefault()
      const { span, limits, onSpan } = current.current
      const isHorizontal = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)
      if (isHorizontal) onSpan(pan(span, (event.deltaX || event.deltaY) * msPerPx(), limits))
      else onSpan(zoomAt(span, Math.exp(event.deltaY * ZOOM_PER_WHEEL_PX), toTime(event.clientX), limits))
    }

    const listeners = {
      pointerdown: onDown,
      pointermove: onMove,
      pointerup: onUp,
      pointercancel: onUp,
      pointerleave: () => setHoveredMs(undefined),
    }
    for (const [name, listener] of Object.entries(listeners))
      track.addEventListener(name, listener as EventListener)
    // Not passive, because it prevents the page from scrolling.
    track.addEventListener('wheel', onWheel, { passive: false })
    return () => {
      for (const [name, listener] of Object.entries(listeners))
        track.removeEventListener(name, listener as EventListener)
      track.removeEventListener('wheel', onWheel)
    }
  }, [element])
  return hoveredMs
}
