import type { RecoveryCodes, TotpStatus } from '@eyrie/contract/management/index'
import { callOperation } from '../api/call-operation.ts'
import { useSubmit } from '../ui/use-submit.ts'

interface ConfirmedAuthenticatorProps {
  status: TotpStatus
  onCodes(codes: string[]): void
  onRemoved(): void
}

/** The authenticator app of the user, which can be removed with the password and a code. */
export function ConfirmedAuthenticator({
  status,
  onCodes,
  onRemoved,
}: ConfirmedAuthenticatorProps) {
  const { enabled_at, recovery_codes_left } = status
  const { error, isSubmitting, onSubmit } = useSubmit(async (fields, button) => {
    const input = {
      current_password: String(fields.get('password')),
      code: String(fields.get('code')),
    }
    if (button === 'remove-app') {
      await callOperation('/user/totp/disable', input)
      onRemoved()
    } else {
      const replaced = await callOperation<RecoveryCodes>('/user/totp/recovery-codes', input)
      onCodes(replaced.recovery_codes)
    }
  })

  return (
    <form onSubmit={onSubmit}>
      <p>
        Your sign-in has required a code from the app since{' '}
        {enabled_at && new Date(enabled_at).toLocaleDateString()}.{' '}
        {recovery_codes_left === 1
          ? '1 recovery code is left.'
          : `${recovery_codes_left} recovery codes are left.`}
      </p>
      <label>
        Your password
        <input name="password" type="password" autocomplete="current-password" required />
      </label>
      <label>
        Code of the app, or a recovery code
        <input name="code" autocomplete="one-time-code" autocapitalize="none" required />
      </label>
      <p class="error" role="alert">
        {error.value}
      </p>
      <div class="buttons">
        <button type="submit" name="renew-codes" disabled={isSubmitting.value}>
          Replace the recovery codes
        </button>
        <button type="submit" name="remove-app" disabled={isSubmitting.value}>
          Remove the app
        </button>
      </div>
    </form>
  )
}
