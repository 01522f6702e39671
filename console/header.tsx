import type { SystemStatistics } from '@eyrie/contract/statistics'
import { useSignal } from '@preact/signals'
import { Alarms } from './alarms.tsx'
import { usePolling } from './api/use-polling.ts'
import { session, signOut } from './api/user-session.ts'
import { formatDuration, formatGibibytes, formatPercent } from './ui/format.ts'
import { Notice } from './ui/notice.tsx'
import { currentPath, Link } from './ui/router.tsx'
import { ThemeSwitch } from './ui/theme-switch.tsx'
import './header.css'
import './ui/pill.css'

const STATISTICS_INTERVAL_MS = 5_000

/**
 * The header of every page: links to the pages, the load and the alarms of the appliance, and
 * buttons for account and theme.
 */
export function Header() {
  const { open: isOpen, user } = session.value ?? {}
  const signOutError = useSignal<string>()

  const requestSignOut = async () => {
    signOutError.value = undefined
    try {
      await signOut()
    } catch (error) {
      signOutError.value = (error as Error).message
    }
  }

  return (
    <>
      <header class="header">
        <Link to="/" class="brand">
          <img src="/favicon.svg" alt="" width="22" height="22" />
          Eyrie
        </Link>
        <PageLinks isSignedIn={Boolean(user)} isSuperadmin={user?.role === 'superadmin'} />
        {(isOpen || user) && <SystemLoad />}
        <AccountButton onSignOut={requestSignOut} />
        <ThemeSwitch />
      </header>
      {(isOpen || user) && <Alarms />}
      {user && signOutError.value && (
        <Notice error title={`Failed to sign out: ${signOutError.value}`}>
          Press Sign out to retry.
        </Notice>
      )}
    </>
  )
}

interface PageLinksProps {
  isSignedIn: boolean
  isSuperadmin: boolean
}

/** Links to the pages that the user may open. */
function PageLinks({ isSignedIn, isSuperadmin }: PageLinksProps) {
  const path = currentPath()
  return (
    <nav class="pages" aria-label="Pages">
      <Link to="/" current={path === '/' || path.startsWith('/channels/')}>
        Live
      </Link>
      <Link to="/recordings" current={path.startsWith('/recordings')}>
        Recordings
      </Link>
      {isSignedIn && (
        <Link to="/account" current={path === '/account'}>
          Account
        </Link>
      )}
      {isSuperadmin && (
        <>
          <Link to="/engines" current={path === '/engines'}>
            Engines
          </Link>
          <Link to="/plugins" current={path === '/plugins'}>
            Plugins
          </Link>
          <Link to="/identity-provider" current={path === '/identity-provider'}>
            Identity provider
          </Link>
        </>
      )}
    </nav>
  )
}

/** The load of the appliance. Hidden while it is unknown. */
function SystemLoad() {
  const { data, error } = usePolling<SystemStatistics>(
    '/live/statistics',
    STATISTICS_INTERVAL_MS,
  ).value
  if (!data || error) return null
  return (
    <dl class="system-load">
      <div>
        <dt>CPU</dt>
        <dd>{formatPercent(data.cpu)}</dd>
      </div>
      <div>
        <dt>Memory</dt>
        <dd>{formatGibibytes(data.mem_physical)}</dd>
      </div>
      <div>
        <dt>Uptime</dt>
        <dd>{formatDuration(data.uptime)}</dd>
      </div>
    </dl>
  )
}

/** Signs the user out, or links to the sign-in page if sign-in is optional. */
function AccountButton({ onSignOut }: { onSignOut(): void }) {
  if (!session.value || session.value.starting) return null
  const { open: isSignInOptional, user } = session.value
  if (user) {
    return (
      <button type="button" class="pill" title={user.email} onClick={onSignOut}>
        Sign out
      </button>
    )
  }
  if (!isSignInOptional) return null
  return (
    <Link to="/sign-in" class="pill">
      Sign in
    </Link>
  )
}
