import type { TotpStatus } from '@eyrie/contract/management/index'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { callOperation } from '../api/call-operation.ts'
import { session } from '../api/user-session.ts'
import { capitalize } from '../ui/format.ts'
import { LoadFailure, Notice } from '../ui/notice.tsx'
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

  if (error.value) return <LoadFailure reason={error.value} />
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
          <AuthenticatorForms status={status.value} onChanged={load} />
        </section>
      )}
      <section aria-label="Messages">
        <h2>Messages</h2>
        <PushSwitch />
      </section>
    </div>
  )
}

interface AuthenticatorFormsProps {
  status: TotpStatus
  /** Called when an app was added or removed, or its recovery codes were replaced. */
  onChanged(): Promise<void>
}

/** Sets up or changes the authenticator app. New recovery codes are shown once. */
function AuthenticatorForms({ status, onChanged }: AuthenticatorFormsProps) {
  const newCodes = useSignal<string[] | undefined>(undefined)
  const showCodes = (codes: string[]) => {
    newCodes.value = codes
  }
  // Not earlier: if the page failed to reload, its error would replace the codes.
  const leaveCodes = async () => {
    await onChanged()
    newCodes.value = undefined
  }

  if (newCodes.value) return <RecoveryCodeList codes={newCodes.value} onStored={leaveCodes} />
  if (!status.is_enabled) return <AuthenticatorSetup onCodes={showCodes} />
  return <ConfirmedAuthenticator status={status} onCodes={showCodes} onRemoved={onChanged} />
}
