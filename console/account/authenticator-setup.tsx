import type { RecoveryCodes, TotpEnrolment } from '@eyrie/contract/management/index'
import { useSignal } from '@preact/signals'
import { callOperation } from '../api/api-request.ts'
import { useSubmit } from '../ui/use-submit.ts'
import { QrCode } from './qr-code.tsx'

/** Registers an authenticator app: the password, then the QR code, then a code that confirms it. */
export function AuthenticatorSetup({ onCodes }: { onCodes(codes: string[]): void }) {
  const enrolment = useSignal<TotpEnrolment | undefined>(undefined)
  const { error, isSubmitting, onSubmit } = useSubmit(async fields => {
    if (enrolment.value) {
      const input = { code: String(fields.get('code')) }
      const { recovery_codes: recoveryCodes } = await callOperation<RecoveryCodes>(
        '/user/totp/confirm',
        input,
      )
      onCodes(recoveryCodes)
    } else {
      const input = { current_password: String(fields.get('password')) }
      enrolment.value = await callOperation<TotpEnrolment>('/user/totp/enroll', input)
    }
  })

  return (
    <form onSubmit={onSubmit}>
      {enrolment.value ? (
        <>
          <p>
            Scan this with the app, or type the key into it. Then enter the code that the app shows.
          </p>
          <QrCode text={enrolment.value.uri} label="QR code for the authenticator app" />
          <p>
            Key: <code>{enrolment.value.secret}</code>
          </p>
          <label>
            Code
            <input
              name="code"
              inputmode="numeric"
              autocomplete="one-time-code"
              required
              autofocus
            />
          </label>
        </>
      ) : (
        <>
          <p>With an app on your phone, a stolen password alone is not enough to sign in as you.</p>
          <label>
            Your password
            <input name="password" type="password" autocomplete="current-password" required />
          </label>
        </>
      )}
      <p class="error" role="alert">
        {error.value}
      </p>
      <button type="submit" class="main" disabled={isSubmitting.value}>
        {enrolment.value ? 'Confirm' : 'Set up an authenticator app'}
      </button>
    </form>
  )
}
