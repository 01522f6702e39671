import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import './side-list.css'

interface SideListProps {
  class: string
  label: string
  /** Which of them is chosen. */
  current: number | undefined
  children: ComponentChildren
}

/** What there is to choose from; it keeps in sight what is chosen, and moves nothing but itself for that. */
export function SideList({ class: name, label, current, children }: SideListProps) {
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    const chosen = list.current?.querySelector('[aria-current]')
    if (current === undefined || !list.current || !chosen) return
    const [around, it] = [list.current.getBoundingClientRect(), chosen.getBoundingClientRect()]
    const beyond = (from: number, to: number, most: number) => Math.min(0, from) || Math.max(0, to - most)
    list.current.scrollBy(
      beyond(it.left - around.left, it.right - around.left, around.width),
      beyond(it.top - around.top, it.bottom - around.top, around.height),
    )
  }, [current])
  return (
    <nav ref={list} class={`side-list ${name}`} aria-label={label}>
      {children}
    </nav>
  )
}
