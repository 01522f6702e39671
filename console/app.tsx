import type { ComponentType } from 'preact'
import { AccountPage } from './account/account-page.tsx'
import { IdentityProviderPage } from './administration/identity-provider-page.tsx'
import { session } from './api/user-session.ts'
import { EnginesPage } from './engines/engines-page.tsx'
import { Header } from './header.tsx'
import { LinkPage } from './link/link-page.tsx'
import { LivePage } from './live/live-page.tsx'
import { PluginsPage } from './plugins/plugins-page.tsx'
import { RecordingsPage } from './recordings/recordings-page.tsx'
import { Connecting } from './sign-in/connecting.tsx'
import { SignInPage } from './sign-in/sign-in-page.tsx'
import { UserPage } from './sign-in/user-page.tsx'
import { Notice } from './ui/notice.tsx'
import { currentPath, Link, usePageTitle } from './ui/router.tsx'

/** The console, the web interface of an appliance: a header, and the page for the current path. */
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

/** The pages that only superadmins may open, by path. */
const SUPERADMIN_PAGES: Partial<Record<string, ComponentType>> = {
  '/engines': EnginesPage,
  '/plugins': PluginsPage,
  '/identity-provider': IdentityProviderPage,
}

function Page({ path }: { path: string }) {
  if (!session.value) return <Connecting />

  if (path === '/link') return <LinkPage />

  if (path === '/account') return <UserPage key={path}>{() => <AccountPage />}</UserPage>
  const SuperadminPage = SUPERADMIN_PAGES[path]
  if (SuperadminPage) {
    return (
      <UserPage key={path}>
        {({ role }) => (role === 'superadmin' ? <SuperadminPage /> : <ForSuperadmins />)}
      </UserPage>
    )
  }

  // A browser that has opened the appliance's link sees its video, and sign-in is optional.
  const { open: isOpen, user, starting: isStarting } = session.value
  if (!user && (!isOpen || path === '/sign-in')) return isStarting ? <Connecting /> : <SignInPage />

  if (path === '/' || path === '/sign-in') return <LivePage />
  const channelId = matchId(/^\/channels\/(\d+)$/, path)
  if (channelId !== undefined) return <LivePage selected={channelId} />

  if (path === '/recordings') return <RecordingsPage />
  const streamId = matchId(/^\/recordings\/(\d+)$/, path)
  if (streamId !== undefined) return <RecordingsPage selected={streamId} />

  return <NotFound path={path} />
}

/** Returns the id in a path that matches the pattern; undefined for any other path. */
function matchId(pattern: RegExp, path: string): number | undefined {
  const [, id] = pattern.exec(path) ?? []
  return id === undefined ? undefined : Number(id)
}

function ForSuperadmins() {
  usePageTitle('No access')
  return (
    <Notice title="Only superadmins may open this page">
      Sign in as a superadmin, or go to the <Link to="/">live view</Link>.
    </Notice>
  )
}

function NotFound({ path }: { path: string }) {
  usePageTitle('Page not found')
  return (
    <Notice title="Page not found">
      <code>{path}</code> does not exist. Go to the <Link to="/">live view</Link>.
    </Notice>
  )
}
