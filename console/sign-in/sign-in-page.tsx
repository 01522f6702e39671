import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { loadSession, session, signIn, submitCode } from '../api/user-session.ts'
import { focusOnMount } from '../ui/focus-on-mount.ts'
import { capitalize } from '../ui/format.ts'
import { navigate, usePageTitle } from '../ui/router.tsx'
import '../ui/controls.css'
import './sign-in-page.css'

const PROVIDER_SIGN_IN = '/session/provider'

interface SignInPageProps {
  /** The e-mail address of the user whose session has ended, and whose page is kept. */
  interruptedUser?: string
}

/**
 * The forms with which a user signs in to the console: the password, and then a code if the user
 * has an authenticator app.
 */
export function SignInPage({ interruptedUser }: SignInPageProps) {
  // After a failed sign-in at the identity provider, the session contains the reason.
  const error = useSignal(capitalize(session.value?.failure ?? ''))
  const isSubmitting = useSignal(false)
  /** Defined after a correct password, if a code is required too. */
  const challenge = useSignal<string | undefined>(undefined)
  const needsCode = challenge.value !== undefined
  usePageTitle('Sign in')
  useSignInElsewhere()

  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const readField = (name: string) => String(form.get(name) ?? '')
    isSubmitting.value = true
    error.value = ''
    try {
      if (challenge.value !== undefined) {
        await submitCode(challenge.value, readField('code'))
      } else {
        challenge.value = await signIn(readField('email'), readField('password'))
      }
      const signedInUser = session.value?.user
      if (signedInUser && location.pathname === '/sign-in') navigate('/')
    } catch (failure) {
      error.value = capitalize((failure as Error).message)
    } finally {
      isSubmitting.value = false
    }
  }

  const startAgain = () => {
    challenge.value = undefined
    error.value = ''
  }

  return (
    <form class="sign-in controls" onSubmit={submit}>
      <h1>Sign in</h1>
      {interruptedUser && (
        <p role="status">
          Your session has ended. Sign in again as {interruptedUser} to continue: what you have
          entered is kept.
        </p>
      )}
      {needsCode ? <CodeField /> : <PasswordFields />}
      <p class="error" role="alert">
        {error.value}
      </p>
      <button type="submit" class="main" disabled={isSubmitting.value}>
        Sign in
      </button>
      {needsCode ? (
        <button type="button" class="back" onClick={startAgain}>
          Start again
        </button>
      ) : (
        <AlternativesToPassword isPageKept={interruptedUser !== undefined} />
      )}
    </form>
  )
}

function PasswordFields() {
  return (
    <>
      <label>
        E-mail
        <input ref={focusOnMount} name="email" type="email" autocomplete="username" required />
      </label>
      <label>
        Password
        <input name="password" type="password" autocomplete="current-password" required />
      </label>
    </>
  )
}

function CodeField() {
  return (
    <label>
      Code of your authenticator app, or a recovery code
      <input
        ref={focusOnMount}
        name="code"
        autocomplete="one-time-code"
        autocapitalize="none"
        required
      />
    </label>
  )
}

/** Loads the session when this tab is shown, because the user may have signed in in another one. */
function useSignInElsewhere() {
  useEffect(() => {
    const loadIfVisible = () => {
      if (!document.hidden) void loadSession()
    }
    document.addEventListener('visibilitychange', loadIfVisible)
    return () => document.removeEventListener('visibilitychange', loadIfVisible)
  }, [])
}

/**
 * The link to the identity provider, if there is one, and what to do without a password. The link
 * opens another tab if the page of this tab is kept.
 */
function AlternativesToPassword({ isPageKept }: { isPageKept: boolean }) {
  const provider = session.value?.provider
  return (
    <>
      {provider && (
        <a class="provider" href={PROVIDER_SIGN_IN} target={isPageKept ? '_blank' : undefined}>
          Sign in with {provider.name}
        </a>
      )}
      <p class="hint">
        The first start of the appliance prints the password of the administrator. To reset a
        password, run <code>./eyrie user reset</code> with the e-mail address on the appliance. To
        see the live views in a browser on the appliance itself without signing in, open the link
        that <code>./eyrie open</code> prints.
      </p>
    </>
  )
}
