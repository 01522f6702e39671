import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { type SessionUser, session } from '../api/user-session.ts'
import { Connecting } from './connecting.tsx'
import { SignInPage } from './sign-in-page.tsx'
import './user-page.css'

interface UserPageProps {
  children(user: SessionUser): ComponentChildren
}

/**
 * A page for users who are signed in; others are asked to sign in. If the session ends after the
 * user has entered something, the page is hidden until this user has signed in again, so that the
 * input is kept. To be rendered after the session is loaded.
 */
export function UserPage({ children }: UserPageProps) {
  const { user, starting: isStarting } = session.value!
  /** The user who has entered something on this page. */
  const editor = useRef<SessionUser>(undefined)
  if (user && user.email !== editor.current?.email) editor.current = undefined
  const shownUser = user ?? editor.current

  return (
    <>
      {!user &&
        (isStarting ? <Connecting /> : <SignInPage interruptedUser={editor.current?.email} />)}
      {shownUser && (
        <div
          key={shownUser.email}
          class="user-page"
          hidden={!user}
          onInput={() => {
            editor.current = shownUser
          }}
        >
          {children(shownUser)}
        </div>
      )}
    </>
  )
}
