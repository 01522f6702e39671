import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'

const path = signal(location.pathname)

addEventListener('popstate', () => {
  path.value = location.pathname
})

/** The path of the current page. A component that reads it is rendered again when it changes. */
export const currentPath = () => path.value

export function navigate(to: string): void {
  history.pushState(null, '', to)
  path.value = location.pathname
}

/** Sets the document title while the component is mounted. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} – Eyrie`
  }, [title])
}

interface LinkProps {
  to: string
  class?: string
  current?: boolean
  children: ComponentChildren
}

/** An anchor that navigates without a page load. Clicks with a modifier key open a new tab, as usual. */
export function Link({ to, current, children, ...rest }: LinkProps) {
  const onClick = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(to)
  }
  return (
    <a href={to} onClick={onClick} aria-current={current ? 'page' : undefined} {...rest}>
      {children}
    </a>
  )
}
