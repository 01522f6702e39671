import type { ComponentChildren } from 'preact'
import { capitalize } from './format.ts'
import './notice.css'

interface NoticeProps {
  title: string
  /** Marks the notice as an error. */
  error?: boolean
  children?: ComponentChildren
}

/** A message about the state of a page, with advice for the user as children. */
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
  /** The page shows the last known state below this notice. */
  isStale?: boolean
}

/** A notice that the appliance cannot be reached and requests are being retried. */
export const Unreachable = ({ reason, isStale = false }: UnreachableProps) => (
  <Notice error title={`${capitalize(reason)}. Retrying…`}>
    {isStale && 'Showing the last known state. '}
    If the problem persists, run <code>./eyrie logs</code> on the appliance.
  </Notice>
)

/** A notice that a page could not be loaded, which is not tried again. */
export const LoadFailure = ({ reason }: { reason: string }) => (
  <Notice error title={reason}>
    Reload the page to try again.
  </Notice>
)
