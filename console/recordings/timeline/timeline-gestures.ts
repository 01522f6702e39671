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

  useEffect(() => observeGestures(element.current!, () => latest.current, setHoveredMs), [element])
  return hoveredMs
}

/**
 * Observes the pointers on the timeline. Reads the handlers from `getGestures` for each event.
 * Returns a function that stops the observation.
 */
function observeGestures(
  track: HTMLElement,
  getGestures: () => TimelineGestures,
  onHover: (timeMs: number | undefined) => void,
): () => void {
  /** Last x coordinate of each pressed pointer, by pointer id. */
  const pointers = new Map<number, number>()
  /** How far the pressed pointers have travelled in total. */
  let travelPx = 0

  function toTime(clientX: number): number {
    const { left, width } = track.getBoundingClientRect()
    const { from, to } = getGestures().span
    return from + ((clientX - left) / width) * (to - from)
  }

  /** Moves the visible part by a distance on the screen. */
  function panBy(distancePx: number) {
    const { span, limits, onSpan } = getGestures()
    const msPerPx = (span.to - span.from) / track.getBoundingClientRect().width
    onSpan(pan(span, distancePx * msPerPx, limits))
  }

  /** Scales the visible part. The time at `clientX` does not move. */
  function zoomBy(factor: number, clientX: number) {
    const { span, limits, onSpan } = getGestures()
    onSpan(zoomAt(span, factor, toTime(clientX), limits))
  }

  function onDown(event: PointerEvent) {
    if (event.button !== 0) return
    track.setPointerCapture(event.pointerId)
    if (pointers.size === 0) travelPx = 0
    pointers.set(event.pointerId, event.clientX)
  }

  function onMove({ pointerId, pointerType, clientX }: PointerEvent) {
    onHover(pointerType === 'mouse' ? toTime(clientX) : undefined)

    const lastX = pointers.get(pointerId)
    if (lastX === undefined) return
    pointers.set(pointerId, clientX)
    travelPx += Math.abs(clientX - lastX)

    const otherX = findOtherPointer(pointers, pointerId)
    if (otherX !== undefined) {
      // Two fingers: the visible part shrinks as their distance grows.
      zoomBy(Math.abs(lastX - otherX) / Math.max(1, Math.abs(clientX - otherX)), otherX)
    } else if (travelPx > MAX_CLICK_TRAVEL_PX) {
      panBy(lastX - clientX)
    }
  }

  function onUp(event: PointerEvent) {
    const wasDown = pointers.delete(event.pointerId)
    const isClick = wasDown && pointers.size === 0 && travelPx <= MAX_CLICK_TRAVEL_PX
    if (isClick && event.type === 'pointerup') getGestures().onSeek(toTime(event.clientX))
  }

  function onWheel(event: WheelEvent) {
    event.preventDefault()
    const isHorizontal = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)
    // Some browsers report a wheel with Shift as vertical.
    if (isHorizontal) panBy(event.deltaX || event.deltaY)
    else zoomBy(Math.exp(event.deltaY * ZOOM_PER_WHEEL_PX), event.clientX)
  }

  const listening = new AbortController()
  const { signal } = listening
  track.addEventListener('pointerdown', onDown, { signal })
  track.addEventListener('pointermove', onMove, { signal })
  track.addEventListener('pointerup', onUp, { signal })
  track.addEventListener('pointercancel', onUp, { signal })
  track.addEventListener('pointerleave', () => onHover(undefined), { signal })
  // A passive listener could not prevent the page from scrolling.
  track.addEventListener('wheel', onWheel, { passive: false, signal })
  return () => listening.abort()
}

/** Returns the x coordinate of another pressed pointer, such as a second finger. */
function findOtherPointer(
  pointers: ReadonlyMap<number, number>,
  pointerId: number,
): number | undefined {
  for (const [otherId, x] of pointers) if (otherId !== pointerId) return x
  return undefined
}
