import type { SystemStatistics } from '@eyrie/contract/statistics'
import { usePolled } from './api/use-polling.ts'
import { session } from './api/user-session.ts'
import { Account } from './sign-in/account.tsx'
import { duration, gibibytes, percent } from './ui/format.ts'
import { Link, path } from './ui/router.tsx'
import { ThemeSwitch } from './ui/theme-switch.tsx'
import './header.css'

const STATISTICS_EVERY_MS = 5_000

export function Header() {
  const { open, user } = session.value ?? {}
  const place = path()
  return (
    <header class="header">
      <Link to="/" class="brand">
        <img src="/favicon.svg" alt="" width="22" height="22" />
        Eyrie
      </Link>
      <nav class="places" aria-label="Pages">
        <Link to="/" current={place === '/' || place.startsWith('/channels/')}>
          Live
        </Link>
        <Link to="/recordings" current={place.startsWith('/recordings')}>
          Recordings
        </Link>
      </nav>
      {(open || user) && <Machine />}
      <Account />
      <ThemeSwitch />
    </header>
  )
}

function Machine() {
  const { data, error } = usePolled<SystemStatistics>('/live/statistics', STATISTICS_EVERY_MS).value
  if (!data || error) return null
  return (
    <dl class="machine">
      <dt>CPU</dt>
      <dd>{percent(data.cpu)}</dd>
      <dt>Memory</dt>
      <dd>{gibibytes(data.mem_physical)}</dd>
      <dt>Up</dt>
      <dd>{duration(data.uptime)}</dd>
    </dl>
  )
}
