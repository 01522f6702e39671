import type { TotpStatus } from '@eyrie/contract/management/index'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { callOperation } from '../api/api-request.ts'
import { session } from '../api/user-session.ts'
import { capitalize } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { usePageTitle } from '../ui/router.tsx'
import { AuthenticatorSetup } from './authenticator-setup.tsx'
import { ConfirmedAuthenticator } from './confirmed-authenticator.tsx'
import { PushSwitch } from './push-switch.tsx'
import { RecoveryCodeList } from './recovery-code-list.tsx'
import '../ui/controls.css'
import '../ui/form.css'

/** How the signed-in user signs in, and whether this browser shows messages about alerts. */
export function AccountPage() {
  const status = useSignal<TotpStatus | undefined>(undefined)
  const error = useSignal('')
  /** New recovery codes, which are shown only once. */
  const codes = useSignal<string[] | undefined>(undefined)
  usePageTitle('Account')

  const load = async () => {
    try {
      status.value = await callOperation<TotpStatus>('/user/totp')
      error.value = ''
    } catch (failure) {
      error.value = capitalize((failure as Error).message)
    }
  }
  useEffect(() => void load(), [])

  const showCodes = (shown: string[]) => {
    codes.value = shown
    void load()
  }

  if (error.value) return <Notice error title={error.value} />
  if (!status.value) return <Notice title="Loading…" />
  return (
    <div class="forms controls">
      <h1>Account of {session.value?.user?.email}</h1>
      {status.value.has_provider ? (
        <section>
          <h2>Identity provider</h2>
          <p>Your identity provider signs you in. Change your password there.</p>
        </section>
      ) : (
        <section aria-label="Authenticator app">
          <h2>Authenticator app</h2>
          {codes.value && (
            <RecoveryCodeList codes={codes.value} onStored={() => (codes.value = undefined)} />
          )}
          {!codes.value && status.value.is_enabled && (
            <ConfirmedAuthenticator status={status.value} onCodes={showCodes} onRemoved={load} />
          )}
          {!codes.value && !status.value.is_enabled && <AuthenticatorSetup onCodes={showCodes} />}
        </section>
      )}
      <section aria-label="Messages">
        <h2>Messages</h2>
        <PushSwitch />
      </section>
    </div>
  )
}
