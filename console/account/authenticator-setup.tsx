import type { RecoveryCodes, TotpEnrolment } from '@eyrie/contract/management/index'
import { useSignal } from '@preact/signals'
import { callOperation } from '../api/call-operation.ts'
import { focusOnMount } from '../ui/focus-on-mount.ts'
import { useSubmit } from '../ui/use-submit.ts'
import { QrCode } from './qr-code.tsx'

/** Registers an authenticator app: the password, then the QR code, then a code that confirms it. */
export function AuthenticatorSetup({ onCodes }: { onCodes(codes: string[]): void }) {
  /** Defined after the password was accepted. */
  const enrolment = useSignal<TotpEnrolment | undefined>(undefined)

  const enrol = async (fields: FormData) => {
    const input = { current_password: String(fields.get('password')) }
    enrolment.value = await callOperation<TotpEnrolment>('/user/totp/enroll', input)
  }
  const confirm = async (fields: FormData) => {
    const input = { code: String(fields.get('code')) }
    const { recovery_codes } = await callOperation<RecoveryCodes>('/user/totp/confirm', input)
    onCodes(recovery_codes)
  }
  const { error, isSubmitting, onSubmit } = useSubmit(fields =>
    enrolment.value ? confirm(fields) : enrol(fields),
  )

  return (
    <form onSubmit={onSubmit}>
      {enrolment.value ? <CodeFields enrolment={enrolment.value} /> : <PasswordFields />}
      <p class="error" role="alert">
        {error.value}
      </p>
      <button type="submit" class="main" disabled={isSubmitting.value}>
        {enrolment.value ? 'Confirm' : 'Set up an authenticator app'}
      </button>
    </form>
  )
}

const PasswordFields = () => (
  <>
    <p>With an app on your phone, a stolen password alone is not enough to sign in as you.</p>
    <label>
      Your password
      <input name="password" type="password" autocomplete="current-password" required />
    </label>
  </>
)

const CodeFields = ({ enrolment: { uri, secret } }: { enrolment: TotpEnrolment }) => (
  <>
    <p>Scan this with the app, or type the key into it. Then enter the code that the app shows.</p>
    <QrCode text={uri} label="QR code for the authenticator app" />
    <p>
      Key: <code>{secret}</code>
    </p>
    <label>
      Code
      <input
        ref={focusOnMount}
        name="code"
        inputmode="numeric"
        autocomplete="one-time-code"
        required
      />
    </label>
  </>
)
