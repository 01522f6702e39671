import { session, sessionError } from './api/user-session.ts'
import { Header } from './header.tsx'
import { LivePage } from './live/live-page.tsx'
import { RecordingsPage } from './recordings/recordings-page.tsx'
import { SignInPage } from './sign-in/sign-in-page.tsx'
import { capitalize } from './ui/format.ts'
import { Notice } from './ui/notice.tsx'
import { currentPath, Link, usePageTitle } from './ui/router.tsx'

export function App() {
  return (
    <>
      <Header />
      <main>
        <Page path={currentPath()} />
      </main>
    </>
  )
}

function Page({ path }: { path: string }) {
  if (!session.value) return <Connecting />
  const { open, user } = session.value
  if (!user && (path === '/sign-in' || !open)) return <SignInPage />
  if (path === '/' || path === '/sign-in') return <LivePage />
  const channel = path.match(/^\/channels\/(\d+)$/)?.[1]
  if (channel !== undefined) return <LivePage selected={Number(channel)} />
  if (path === '/recordings') return <RecordingsPage />
  const stream = path.match(/^\/recordings\/(\d+)$/)?.[1]
  if (stream !== undefined) return <RecordingsPage selected={Number(stream)} />
  return <NotFound path={path} />
}

/** Shown until the session is known, which is retried in the background. */
function Connecting() {
  const error = sessionError.value
  if (!error) return <Notice title="Connecting…" />
  const title = error.status === 503 ? 'The appliance is starting' : 'Waiting for the appliance'
  return <Notice title={title}>{capitalize(error.message)}</Notice>
}

function NotFound({ path }: { path: string }) {
  usePageTitle('Page not found')
  return (
    <Notice title="Page not found">
      <code>{path}</code> does not exist. Go to the <Link to="/">live view</Link>.
    </Notice>
  )
}
