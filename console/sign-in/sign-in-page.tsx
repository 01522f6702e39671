import { useSignal } from '@preact/signals'
import { signIn } from '../api/user-session.ts'
import { capitalize } from '../ui/format.ts'
import { navigate, usePageTitle } from '../ui/router.tsx'
import './sign-in-page.css'

/** The form with which a user signs in to the console. */
export function SignInPage() {
  const error = useSignal('')
  const isSubmitting = useSignal(false)
  usePageTitle('Sign in')

  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    isSubmitting.value = true
    error.value = ''
    try {
      await signIn(String(form.get('email')), String(form.get('password')))
      if (location.pathname === '/sign-in') navigate('/')
    } catch (failure) {
      error.value = capitalize((failure as Error).message)
    } finally {
      isSubmitting.value = false
    }
  }

  return (
    <form class="sign-in" onSubmit={submit}>
      <h1>Sign in</h1>
      <label>
        E-mail
        <input name="email" type="email" autocomplete="username" required autofocus />
      </label>
      <label>
        Password
        <input name="password" type="password" autocomplete="current-password" required />
      </label>
      <p class="error" role="alert">
        {error.value}
      </p>
      <button type="submit" disabled={isSubmitting.value}>
        Sign in
      </button>
      <p class="hint">
        The initial administrator password is in the log of the first start. To reset a password, run{' '}
        <code>./eyrie user reset</code> with the e-mail address on the appliance.
      </p>
    </form>
  )
}
