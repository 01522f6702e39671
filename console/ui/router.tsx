import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'

// Navigation between the pages of the console without reloading it from the server.

const path = signal(location.pathname)

// Fires when the user presses the back or forward button of the browser.
addEventListener('popstate', () => {
  path.value = location.pathname
})

/**
 * Returns the path of the current page. Components that call this are rendered again
 * when the path changes.
 */
export const currentPath = () => path.value

/** Goes to another page without loading it from the server. */
export function navigate(to: string): void {
  history.pushState(null, '', to)
  path.value = location.pathname
}

/** Sets the document title while the component is mounted. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    const previous = document.title
    document.title = `${title} – Eyrie`
    return () => {
      document.title = previous
    }
  }, [title])
}

interface LinkProps {
  to: string
  class?: string
  /** Whether the link leads to the current page. */
  current?: boolean
  children: ComponentChildren
}

/**
 * An anchor that navigates without a page load. Clicks with a modifier key are handled by
 * the browser as usual.
 */
export function Link({ to, current, children, ...rest }: LinkProps) {
  const onClick = (event: MouseEvent) => {
    const hasModifier = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
    if (event.button !== 0 || hasModifier) return
    event.preventDefault()
    navigate(to)
  }
  return (
    <a href={to} onClick={onClick} aria-current={current ? 'page' : undefined} {...rest}>
      {children}
    </a>
  )
}
