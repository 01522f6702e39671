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
    const [outer, inner] = [list.current.getBoundingClientRect(), selected.getBoundingClientRect()]
    const overflow = (start: number, end: number, size: number) =>
      Math.min(0, start) || Math.max(0, end - size)
    list.current.scrollBy(
      overflow(inner.left - outer.left, inner.right - outer.left, outer.width),
      overflow(inner.top - outer.top, inner.bottom - outer.top, outer.height),
    )
  }, [current])
  return (
    <nav ref={list} class={`side-list ${name}`} aria-label={label}>
      {children}
    </nav>
  )
}
