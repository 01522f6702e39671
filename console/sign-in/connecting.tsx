import { sessionError } from '../api/user-session.ts'
import { capitalize } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'

/** Shown until the session is loaded. Failed attempts are retried in the background. */
export function Connecting() {
  const error = sessionError.value
  if (!error) return <Notice title="Connecting…" />
  const title = error.status === 503 ? 'The appliance is starting' : 'Waiting for the appliance'
  return <Notice title={title}>{capitalize(error.message)}</Notice>
}
