import type { ComponentChildren } from 'preact'
import './notice.css'

interface NoticeProps {
  title: string
  /** Something is wrong, not only empty. */
  alarming?: boolean
  children?: ComponentChildren
}

/** Says why there is nothing to see, and what to do. */
export function Notice({ title, alarming = false, children }: NoticeProps) {
  return (
    <div class={alarming ? 'notice alarming' : 'notice'} role={alarming ? 'alert' : 'status'}>
      <strong>{title}</strong>
      {children && <p>{children}</p>}
    </div>
  )
}
