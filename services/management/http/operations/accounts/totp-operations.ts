import { EyrieError } from '@eyrie/contract'
import { type ManagementRoute, totpRoutes } from '@eyrie/contract/management/index'
import type { Database, Transaction, Work } from '../../../db/database.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { lockUser } from '../../../users/admit-user.ts'
import { hasIdentity } from '../../../users/oidc/identities.ts'
import type { Passwords } from '../../../users/passwords.ts'
import { type CodeDependencies, confirmCode } from '../../../users/submit-code.ts'
import {
  confirmAuthenticator,
  enrollAuthenticator,
  findAuthenticator,
  removeAuthenticator,
  renewRecoveryCodes,
} from '../../../users/totp/authenticator.ts'
import { countRecoveryCodes } from '../../../users/totp/recovery-codes.ts'
import { assertCanManage, assertUserChanged } from '../../../users/user-authority.ts'
import { describeUser } from '../../../users/user-queries.ts'
import { defineMultiStepOperation, defineOperation, type Operation } from '../../api/operation.ts'
import { assertReferencesExist } from '../../api/references.ts'
import { assertPasswordConfirmed, type Caller } from '../../auth/confirm-caller.ts'
import { addRetryAfter } from '../../auth/request-client.ts'

export interface TotpOperationsOptions extends CodeDependencies {
  passwords: Passwords
}

interface ConfirmedInput {
  current_password?: string | undefined
  code: string
}

/** API operations on the authenticator app of a user, whose codes are the second step of a sign-in. */
export function totpOperations({ passwords, secrets, now }: TotpOperationsOptions): Operation[] {
  /** Runs a change of the caller's authenticator app, which requires both the password and a code. */
  async function runConfirmed<T>(
    database: Database,
    route: ManagementRoute,
    { caller, context, input }: Caller & { input: ConfirmedInput },
    work: Work<T>,
  ): Promise<T> {
    await assertPasswordConfirmed(database, { caller, context }, input.current_password, { passwords, now })
    const submission = { caller, operation: route.path, code: input.code }
    return addRetryAfter(context, confirmCode(database, submission, { secrets, now }, work))
  }

  return [
    defineOperation(totpRoutes.totp, async ({ caller: { user_id } }, tx) => {
      const authenticator = await findAuthenticator(tx, user_id)
      const recovery_codes_left = await countRecoveryCodes(tx, user_id)
      const enabled_at = authenticator?.confirmed_at ?? null
      return {
        value: {
          is_enabled: authenticator !== undefined,
          enabled_at,
          recovery_codes_left,
          has_provider: await hasIdentity(tx, user_id),
        },
      }
    }),

    defineMultiStepOperation(totpRoutes.enrollTotp, async ({ input, caller, context }, database) => {
      await assertPasswordConfirmed(database, { caller, context }, input.current_password, { passwords, now })
      const { path } = totpRoutes.enrollTotp
      const enrolment = await database.as(caller, path, async tx => {
        const { user_id, email } = await describeUser(tx, caller.user_id)
        if (await hasIdentity(tx, user_id))
          throw new EyrieError('conflict', 'your identity provider signs you in: register the app there')
        return enrollAuthenticator(tx, { user_id, email }, secrets, now())
      })
      return { value: enrolment }
    }),

    defineOperation(totpRoutes.confirmTotp, async ({ input: { code }, caller }, tx) => {
      const recovery_codes = await confirmAuthenticator(tx, caller.user_id, code, { secrets, now: now() })
      return { value: { recovery_codes } }
    }),

    defineMultiStepOperation(totpRoutes.renewRecoveryCodes, async (call, database) => {
      const { user_id } = call.caller
      const recovery_codes = await runConfirmed(database, totpRoutes.renewRecoveryCodes, call, tx =>
        renewRecoveryCodes(tx, user_id, now()),
      )
      return { value: { recovery_codes } }
    }),

    defineMultiStepOperation(totpRoutes.disableTotp, async (call, database) => {
      const { user_id } = call.caller
      await runConfirmed(database, totpRoutes.disableTotp, call, tx => removeAuthenticator(tx, user_id))
      return undefined
    }),

    defineMultiStepOperation(totpRoutes.resetTotp, async ({ input, caller, context }, database) => {
      const { path } = totpRoutes.resetTotp
      const { user_id, current_password } = input
      if (user_id === caller.user_id)
        throw fieldError(
          'user_id',
          `is you: ${totpRoutes.disableTotp.path} removes your own authenticator app`,
          {
            code: 'conflict',
          },
        )
      const assertAllowed = async (tx: Transaction) => {
        await assertReferencesExist(tx, totpRoutes.resetTotp, input)
        assertCanManage(caller, await describeUser(tx, user_id))
        // Only users whom the caller may change can be locked.
        const lockedUser = await lockUser(tx, user_id)
        assertUserChanged(lockedUser ? [lockedUser] : [])
      }
      // Checked before the password, so that an unauthorized caller learns the reason, and again when the app is removed.
      await database.as(caller, path, assertAllowed)
      await assertPasswordConfirmed(database, { caller, context }, current_password, { passwords, now })
      await database.as(caller, path, async tx => {
        await assertAllowed(tx)
        await removeAuthenticator(tx, user_id)
      })
      return undefined
    }),
  ]
}
