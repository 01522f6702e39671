import type { SystemStatistics } from '@eyrie/contract/statistics'
import { usePolling } from './api/use-polling.ts'
import { session, signOut } from './api/user-session.ts'
import { formatDuration, formatGibibytes, formatPercent } from './ui/format.ts'
import { currentPath, Link } from './ui/router.tsx'
import { ThemeSwitch } from './ui/theme-switch.tsx'
import './header.css'
import './ui/pill.css'

const STATISTICS_INTERVAL_MS = 5_000

export function Header() {
  const { open, user } = session.value ?? {}
  const path = currentPath()
  return (
    <header class="header">
      <Link to="/" class="brand">
        <img src="/favicon.svg" alt="" width="22" height="22" />
        Eyrie
      </Link>
      <nav class="pages" aria-label="Pages">
        <Link to="/" current={path === '/' || path.startsWith('/channels/')}>
          Live
        </Link>
        <Link to="/recordings" current={path.startsWith('/recordings')}>
          Recordings
        </Link>
      </nav>
      {(open || user) && <SystemLoad />}
      <AccountButton />
      <ThemeSwitch />
    </header>
  )
}

function SystemLoad() {
  const { data, error } = usePolling<SystemStatistics>('/live/statistics', STATISTICS_INTERVAL_MS).value
  if (!data || error) return null
  return (
    <dl class="system-load">
      <dt>CPU</dt>
      <dd>{formatPercent(data.cpu)}</dd>
      <dt>Memory</dt>
      <dd>{formatGibibytes(data.mem_physical)}</dd>
      <dt>Uptime</dt>
      <dd>{formatDuration(data.uptime)}</dd>
    </dl>
  )
}

/** Signs the user out. Without a user, offers to sign in where that is optional. */
function AccountButton() {
  if (!session.value || session.value.starting) return null
  const { user, open } = session.value
  if (user)
    return (
      <button type="button" class="pill" title={user.email} onClick={() => void signOut()}>
        Sign out
      </button>
    )
  if (!open) return null
  return (
    <Link to="/sign-in" class="pill">
      Sign in
    </Link>
  )
}
