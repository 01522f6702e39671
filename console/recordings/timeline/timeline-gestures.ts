import { useEffect, useRef, useState } from 'preact/hooks'
import type { TimeSpan } from '../playback/recorded-ranges.ts'
import { pan, zoomAt } from './timeline-scale.ts'

interface TimelineGestures {
  /** The visible part of the timeline. */
  span: TimeSpan
  /** The whole timeline, which the visible part cannot leave. */
  limits: TimeSpan
  onSpan(span: TimeSpan): void
  onSeek(timeMs: number): void
}

/** A pointer that travels further than this drags instead of clicking. */
const MAX_CLICK_TRAVEL_PX = 5
/** Scrolling the wheel by one pixel changes the length of the span by this share. */
const ZOOM_PER_WHEEL_PX = 0.0022

/**
 * Handles pointer gestures: a click seeks, a drag pans, wheel and pinch zoom. Returns the time
 * under the mouse pointer.
 */
export function useTimelineGestures(
  element: { current: HTMLElement | null },
  gestures: TimelineGestures,
): number | undefined {
  const latest = useRef(gestures)
  latest.current = gestures
  const [hoveredMs, setHoveredMs] = useState<number>()

  useEffect(() => {
    const track = element.current!
    /** Last x coordinate of each pressed pointer, by pointer id. */
    const pointers = new Map<number, number>()
    let travelPx = 0

    const toTime = (clientX: number) => {
      const { left, width } = track.getBoundingClientRect()
      const { from, to } = latest.current.span
      return from + ((clientX - left) / width) * (to - from)
    }
    const msPerPx = () => {
      const { from, to } = latest.current.span
      return (to - from) / track.getBoundingClientRect().width
    }

    function onDown(event: PointerEvent) {
      if (event.button !== 0) return
      track.setPointerCapture(event.pointerId)
      if (pointers.size === 0) travelPx = 0
      pointers.set(event.pointerId, event.clientX)
    }

    function onMove(event: PointerEvent) {
      const { span, limits, onSpan } = latest.current
      setHoveredMs(event.pointerType === 'mouse' ? toTime(event.clientX) : undefined)

      const lastX = pointers.get(event.pointerId)
      if (lastX === undefined) return
      const movedPx = event.clientX - lastX
      travelPx += Math.abs(movedPx)
      pointers.set(event.pointerId, event.clientX)

      const otherX = findOtherPointer(pointers, event.pointerId)
      if (otherX !== undefined) {
        // Two fingers: the time under the other finger does not move.
        const factor = Math.abs(lastX - otherX) / Math.max(1, Math.abs(event.clientX - otherX))
        onSpan(zoomAt(span, factor, toTime(otherX), limits))
      } else if (travelPx > MAX_CLICK_TRAVEL_PX) {
        onSpan(pan(span, -movedPx * msPerPx(), limits))
      }
    }

    function onUp(event: PointerEvent) {
      const wasDown = pointers.delete(event.pointerId)
      const isClick = wasDown && pointers.size === 0 && travelPx <= MAX_CLICK_TRAVEL_PX
      if (isClick && event.type === 'pointerup') latest.current.onSeek(toTime(event.clientX))
    }

    function onWheel(event: WheelEvent) {
      event.preventDefault()
      const { span, limits, onSpan } = latest.current
      const isHorizontal = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)
      if (isHorizontal) {
        // Some browsers report a wheel with Shift as vertical.
        const movedPx = event.deltaX || event.deltaY
        onSpan(pan(span, movedPx * msPerPx(), limits))
      } else {
        const factor = Math.exp(event.deltaY * ZOOM_PER_WHEEL_PX)
        onSpan(zoomAt(span, factor, toTime(event.clientX), limits))
      }
    }

    const listening = new AbortController()
    const { signal } = listening
    track.addEventListener('pointerdown', onDown, { signal })
    track.addEventListener('pointermove', onMove, { signal })
    track.addEventListener('pointerup', onUp, { signal })
    track.addEventListener('pointercancel', onUp, { signal })
    track.addEventListener('pointerleave', () => setHoveredMs(undefined), { signal })
    // A passive listener could not prevent the page from scrolling.
    track.addEventListener('wheel', onWheel, { passive: false, signal })
    return () => listening.abort()
  }, [element])

  return hoveredMs
}

/** Returns the x coordinate of another pressed pointer, such as a second finger. */
function findOtherPointer(
  pointers: ReadonlyMap<number, number>,
  pointerId: number,
): number | undefined {
  for (const [otherId, x] of pointers) if (otherId !== pointerId) return x
  return undefined
}
