import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import './side-list.css'

interface SideListProps {
  class: string
  label: string
  /** The id of the selected item. */
  current: number | undefined
  children: ComponentChildren
}

/** A navigation list that scrolls its selected item into view. */
export function SideList({ class: name, label, current, children }: SideListProps) {
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    const selected = list.current?.querySelector('[aria-current]')
    if (current === undefined || !list.current || !selected) return
    // Element.scrollIntoView would scroll the page, too.
    const outer = list.current.getBoundingClientRect()
    const inner = selected.getBoundingClientRect()
    list.current.scrollBy(
      toScrollDistance(inner.left - outer.left, inner.right - outer.right),
      toScrollDistance(inner.top - outer.top, inner.bottom - outer.bottom),
    )
  }, [current])
  return (
    <nav ref={list} class={`side-list ${name}`} aria-label={label}>
      {children}
    </nav>
  )
}

/**
 * Returns the scroll distance that makes an item visible, from the distances of its edges
 * to those of the list.
 */
function toScrollDistance(startDistance: number, endDistance: number): number {
  if (startDistance < 0) return startDistance
  return Math.max(0, endDistance)
}
