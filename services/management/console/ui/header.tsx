import type { SystemStatistics } from '@eyrie/contract/statistics'
import { usePolled } from '../api/poll.ts'
import { duration, gibibytes, percent } from './format.ts'
import { Link } from './router.tsx'
import { ThemeSwitch } from './theme.tsx'
import './header.css'

const STATISTICS_EVERY_MS = 5_000

export function Header() {
  const { data, error } = usePolled<SystemStatistics>('/live/statistics', STATISTICS_EVERY_MS).value
  return (
    <header class="header">
      <Link to="/" class="brand">
        <img src="/favicon.svg" alt="" width="22" height="22" />
        Eyrie
      </Link>
      {data && !error && (
        <dl class="machine">
          <dt>CPU</dt>
          <dd>{percent(data.cpu)}</dd>
          <dt>Memory</dt>
          <dd>{gibibytes(data.mem_physical)}</dd>
          <dt>Up</dt>
          <dd>{duration(data.uptime)}</dd>
        </dl>
      )}
      <ThemeSwitch />
    </header>
  )
}
