import type { ComponentChildren } from 'preact'
import { capitalised } from './format.ts'
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

interface UnreachableProps {
  reason: string
  /** Something is shown all the same. */
  isStale?: boolean
}

/** What answers no more is asked on and on. */
export const Unreachable = ({ reason, isStale = false }: UnreachableProps) => (
  <Notice alarming title={`${capitalised(reason)}, retrying`}>
    {isStale && 'What it said last is shown below. '}
    If it stays so, <code>./eyrie logs</code> on the box says why.
  </Notice>
)
