import { session, sessionRefusal } from './api/user-session.ts'
import { LivePage } from './live/live-page.tsx'
import { RecordingsPage } from './recordings/recordings-page.tsx'
import { SignInPage } from './sign-in/sign-in-page.tsx'
import { capitalised } from './ui/format.ts'
import { Header } from './header.tsx'
import { Notice } from './ui/notice.tsx'
import { Link, path } from './ui/router.tsx'
import { useTitle } from './ui/title.ts'

export function App() {
  return (
    <>
      <Header />
      <main>{page(path())}</main>
    </>
  )
}

/** Until it is known who is here; it goes on by itself. */
function Waiting() {
  const refusal = sessionRefusal.value
  if (!refusal) return <Notice title="Connecting…" />
  const title = refusal.status === 503 ? 'The appliance is starting' : 'Waiting for the appliance'
  return <Notice title={title}>{capitalised(refusal.message)}</Notice>
}

function Missing({ place }: { place: string }) {
  useTitle('No such page')
  return (
    <Notice title="There is no such page">
      <code>{place}</code> is not a page of this console: go to the <Link to="/">live view</Link>.
    </Notice>
  )
}

function page(place: string) {
  if (!session.value) return <Waiting />
  const { open, user } = session.value
  if (!user && (place === '/sign-in' || !open)) return <SignInPage />
  if (place === '/' || place === '/sign-in') return <LivePage />
  const channel = place.match(/^\/channels\/(\d+)$/)?.[1]
  if (channel !== undefined) return <LivePage selected={Number(channel)} />
  if (place === '/recordings') return <RecordingsPage />
  const recorded = place.match(/^\/recordings\/(\d+)$/)?.[1]
  if (recorded !== undefined) return <RecordingsPage selected={Number(recorded)} />
  return <Missing place={place} />
}
