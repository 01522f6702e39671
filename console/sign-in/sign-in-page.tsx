import { useSignal } from '@preact/signals'
import { signIn } from '../api/user-session.ts'
import { capitalised } from '../ui/format.ts'
import { navigate } from '../ui/router.tsx'
import { useTitle } from '../ui/title.ts'
import './sign-in-page.css'

/** Where everything else is only for those who have signed in. */
export function SignInPage() {
  const failure = useSignal('')
  const isBusy = useSignal(false)
  useTitle('Sign in')

  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget as HTMLFormElement)
    isBusy.value = true
    failure.value = ''
    try {
      await signIn(String(given.get('email')), String(given.get('password')))
      if (location.pathname === '/sign-in') navigate('/')
    } catch (error) {
      failure.value = capitalised((error as Error).message)
    } finally {
      isBusy.value = false
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
      <p class="failure" role="alert">
        {failure.value}
      </p>
      <button type="submit" disabled={isBusy.value}>
        Sign in
      </button>
      <p class="hint">
        The first administrator’s password is in the log of the first start. A lost one is replaced on the box
        by <code>./eyrie user reset</code> and the address.
      </p>
    </form>
  )
}
