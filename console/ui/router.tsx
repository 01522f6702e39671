import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

const current = signal(location.pathname)

addEventListener('popstate', () => {
  current.value = location.pathname
})

/** Where in the console we are; reading it in a component follows it. */
export const path = () => current.value

export function navigate(to: string): void {
  history.pushState(null, '', to)
  current.value = location.pathname
}

interface LinkProps {
  to: string
  class?: string
  current?: boolean
  children: ComponentChildren
}

/** A real link, so that it can be opened in a new tab; a plain click stays in the page. */
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
