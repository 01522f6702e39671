import type { ComponentChildren } from 'preact'
import { capitalize } from './format.ts'
import './notice.css'

interface NoticeProps {
  title: string
  /** Marks the notice as an error. */
  error?: boolean
  children?: ComponentChildren
}

/** A message in place of content: what the state is, and what the user can do. */
export function Notice({ title, error = false, children }: NoticeProps) {
  return (
    <div class={error ? 'notice error' : 'notice'} role={error ? 'alert' : 'status'}>
      <strong>{title}</strong>
      {children && <p>{children}</p>}
    </div>
  )
}

interface UnreachableProps {
  reason: string
  /** The last known state is shown below the notice. */
  isStale?: boolean
}

export const Unreachable = ({ reason, isStale = false }: UnreachableProps) => (
  <Notice error title={`${capitalize(reason)}. Retrying…`}>
    {isStale && 'Showing the last known state. '}
    If the problem persists, run <code>./eyrie logs</code> on the appliance.
  </Notice>
)
