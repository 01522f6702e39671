import { session, signOut } from '../api/user-session.ts'
import { Link } from '../ui/router.tsx'
import '../ui/pill.css'

/** Who has signed in, and the way out; on the box itself, where nobody has to, the way in. */
export function Account() {
  if (!session.value || session.value.starting) return null
  const { user, open } = session.value
  if (!user)
    return open ? (
      <Link to="/sign-in" class="pill">
        Sign in
      </Link>
    ) : null
  return (
    <button type="button" class="pill" title={user.email} onClick={() => void signOut()}>
      Sign out
    </button>
  )
}
