import { LivePage } from './live/live-page.tsx'
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
  if (place === '/') return <LivePage />
  const channel = place.match(/^\/channels\/(\d+)$/)?.[1]
  if (channel !== undefined) return <LivePage selected={Number(channel)} />
  return <Notice title="There is no such page">{place}</Notice>
}
