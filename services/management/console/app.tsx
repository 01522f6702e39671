import { session } from './api/session.ts'
import { LivePage } from './live/live-page.tsx'
import { RecordingsPage } from './recordings/recordings-page.tsx'
import { SignInPage } from './sign-in/sign-in-page.tsx'
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

function page(place: string) {
  if (!session.value) return <Notice title="Connecting…" />
  if (place === '/sign-in' || !(session.value.open || session.value.user)) return <SignInPage />
  if (place === '/') return <LivePage />
  const channel = place.match(/^\/channels\/(\d+)$/)?.[1]
  if (channel !== undefined) return <LivePage selected={Number(channel)} />
  if (place === '/recordings') return <RecordingsPage />
  const recorded = place.match(/^\/recordings\/(\d+)$/)?.[1]
  if (recorded !== undefined) return <RecordingsPage selected={Number(recorded)} />
  return <Notice title="There is no such page">{place}</Notice>
}
