import { useEffect, useRef, useState } from 'preact/hooks'
import { moved, type Span, zoomed } from './timeline-scale.ts'

interface Gestures {
  span: Span
  limits: Span
  onSpan(span: Span): void
  onSeek(timeMs: number): void
}

/** A finger or mouse that has moved no further has clicked. */
const CLICK_PX = 5
const ZOOM_PER_PX = 0.0022

/**
 * Click: plays from there. Drag: moves along the day. Wheel or two fingers: zooms where they are. Returns the time under the
 * pointer.
 */
export function useTimelineGestures(
  element: { current: HTMLElement | null },
  gestures: Gestures,
): number | undefined {
  const current = useRef(gestures)
  current.current = gestures
  const [hovered, setHovered] = useState<number>()

  useEffect(() => {
    const track = element.current!
    const pointers = new Map<number, number>()
    let travelled = 0

    const timeAt = (clientX: number) => {
      const { left, width } = track.getBoundingClientRect()
      const { from, to } = current.current.span
      return from + ((clientX - left) / width) * (to - from)
    }
    const msPerPx = () => {
      const { from, to } = current.current.span
      return (to - from) / track.getBoundingClientRect().width
    }

    function down(event: PointerEvent) {
      if (event.button !== 0) return
      track.setPointerCapture(event.pointerId)
      if (pointers.size === 0) travelled = 0
      pointers.set(event.pointerId, event.clientX)
    }

    function move(event: PointerEvent) {
      const { span, limits, onSpan } = current.current
      setHovered(event.pointerType === 'mouse' ? timeAt(event.clientX) : undefined)
      const before = pointers.get(event.pointerId)
      if (before === undefined) return
      const by = event.clientX - before
      travelled += Math.abs(by)
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId)
      pointers.set(event.pointerId, event.clientX)
      if (other) {
        const [, x] = other
        const factor = Math.abs(before - x) / Math.max(1, Math.abs(event.clientX - x))
        onSpan(zoomed(span, factor, timeAt(x), limits))
      } else if (travelled > CLICK_PX) onSpan(moved(span, -by * msPerPx(), limits))
    }

    function up(event: PointerEvent) {
      const isClick = pointers.delete(event.pointerId) && pointers.size === 0 && travelled <= CLICK_PX
      if (isClick && event.type === 'pointerup') current.current.onSeek(timeAt(event.clientX))
    }

    function wheel(event: WheelEvent) {
      event.preventDefault()
      const { span, limits, onSpan } = current.current
      const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)
      if (isSideways) onSpan(moved(span, (event.deltaX || event.deltaY) * msPerPx(), limits))
      else onSpan(zoomed(span, Math.exp(event.deltaY * ZOOM_PER_PX), timeAt(event.clientX), limits))
    }

    const leave = () => setHovered(undefined)
    const listeners = {
      pointerdown: down,
      pointermove: move,
      pointerup: up,
      pointercancel: up,
      pointerleave: leave,
    }
    for (const [name, listener] of Object.entries(listeners))
      track.addEventListener(name, listener as EventListener)
    track.addEventListener('wheel', wheel, { passive: false })
    return () => {
      for (const [name, listener] of Object.entries(listeners))
        track.removeEventListener(name, listener as EventListener)
      track.removeEventListener('wheel', wheel)
    }
  }, [element])
  return hovered
}
