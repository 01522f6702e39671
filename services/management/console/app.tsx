import { session, sessionRefusal } from './api/session.ts'
import { LivePage } from './live/live-page.tsx'
import { RecordingsPage } from './recordings/recordings-page.tsx'
import { SignInPage } from './sign-in/sign-in-page.tsx'
import { capitalised } from './ui/format.ts'
import { Header } from './ui/header.tsx'
import { Notice } from './ui/notice.tsx'
import { path } from './ui/router.tsx'

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

function page(place: string) {
  if (!session.value) return <Waiting />
  if (place === '/sign-in' || !(session.value.open || session.value.user)) return <SignInPage />
  if (place === '/') return <LivePage />
  const channel = place.match(/^\/channels\/(\d+)$/)?.[1]
  if (channel !== undefined) return <LivePage selected={Number(channel)} />
  if (place === '/recordings') return <RecordingsPage />
  const recorded = place.match(/^\/recordings\/(\d+)$/)?.[1]
  if (recorded !== undefined) return <RecordingsPage selected={Number(recorded)} />
  return <Notice title="There is no such page">{place}</Notice>
}
