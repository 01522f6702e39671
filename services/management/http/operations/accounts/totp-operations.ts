import { EyrieError } from '@eyrie/contract'
import { type ManagementRoute, totpRoutes } from '@eyrie/contract/management/index'
import type { Database, Transaction, Work } from '../../../db/database.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import type { Principal } from '../../../rights/principal.ts'
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
import {
  defineMultiStepOperation,
  defineOperation,
  type Input,
  type Operation,
} from '../../api/operation.ts'
import { assertReferencesExist } from '../../api/references.ts'
import { assertPasswordConfirmed, type Caller } from '../../auth/confirm-caller.ts'
import { addRetryAfter } from '../../auth/request-client.ts'

export interface TotpOperationsOptions extends CodeDependencies {
  passwords: Passwords
}

const OWN_APP = `is you: ${totpRoutes.disableTotp.path} removes your own authenticator app`

/**
 * The proof that a request comes from the user: a code of the authenticator app, and the password
 * if the user has one.
 */
interface ConfirmedInput {
  current_password?: string | undefined
  code: string
}

/**
 * API operations on the authenticator app of a user, whose codes are the second step of a sign-in.
 */
export function totpOperations({ passwords, secrets, now }: TotpOperationsOptions): Operation[] {
  /**
   * Runs a change of the caller's own authenticator app, after checking the password and a code.
   */
  async function runConfirmed<T>(
    database: Database,
    route: ManagementRoute,
    { caller, context, input }: Caller & { input: ConfirmedInput },
    work: Work<T>,
  ): Promise<T> {
    await assertPasswordConfirmed(database, { caller, context }, input.current_password, {
      passwords,
      now,
    })
    const submission = { caller, operation: route.path, code: input.code }
    return addRetryAfter(context, confirmCode(database, submission, { secrets, now }, work))
  }

  return [
    defineOperation(totpRoutes.getTotp, async ({ caller: { user_id: userId } }, tx) => {
      const authenticator = await findAuthenticator(tx, userId)
      const recoveryCodesLeft = await countRecoveryCodes(tx, userId)
      const enabledAt = authenticator?.confirmed_at ?? null
      return {
        value: {
          is_enabled: authenticator !== undefined,
          enabled_at: enabledAt,
          recovery_codes_left: recoveryCodesLeft,
          has_provider: await hasIdentity(tx, userId),
        },
      }
    }),

    defineMultiStepOperation(
      totpRoutes.enrollTotp,
      async ({ input, caller, context }, database) => {
        await assertPasswordConfirmed(database, { caller, context }, input.current_password, {
          passwords,
          now,
        })
        const { path } = totpRoutes.enrollTotp
        const enrolment = await database.as(caller, path, async tx => {
          const { user_id: userId, email } = await describeUser(tx, caller.user_id)
          if (await hasIdentity(tx, userId)) {
            throw new EyrieError(
              'conflict',
              'your identity provider signs you in: register the app there',
            )
          }
          return enrollAuthenticator(tx, { user_id: userId, email }, secrets, now())
        })
        return { value: enrolment }
      },
    ),

    defineOperation(totpRoutes.confirmTotp, async ({ input: { code }, caller }, tx) => {
      const recoveryCodes = await confirmAuthenticator(tx, caller.user_id, code, {
        secrets,
        now: now(),
      })
      return { value: { recovery_codes: recoveryCodes } }
    }),

    defineMultiStepOperation(totpRoutes.renewRecoveryCodes, async (call, database) => {
      const { user_id: userId } = call.caller
      const recoveryCodes = await runConfirmed(database, totpRoutes.renewRecoveryCodes, call, tx =>
        renewRecoveryCodes(tx, userId, now()),
      )
      return { value: { recovery_codes: recoveryCodes } }
    }),

    defineMultiStepOperation(totpRoutes.disableTotp, async (call, database) => {
      const { user_id: userId } = call.caller
      await runConfirmed(database, totpRoutes.disableTotp, call, tx =>
        removeAuthenticator(tx, userId),
      )
    }),

    defineMultiStepOperation(totpRoutes.resetTotp, async ({ input, caller, context }, database) => {
      const { path } = totpRoutes.resetTotp
      const { user_id: userId, current_password: currentPassword } = input
      if (userId === caller.user_id) throw fieldError('user_id', OWN_APP, { code: 'conflict' })

      const assertAllowed = (tx: Transaction) => assertCanReset(tx, caller, input)
      // Checked before the password, so that an unauthorized caller learns the reason, and again
      // when the app is removed.
      await database.as(caller, path, assertAllowed)
      await assertPasswordConfirmed(database, { caller, context }, currentPassword, {
        passwords,
        now,
      })
      await database.as(caller, path, async tx => {
        await assertAllowed(tx)
        await removeAuthenticator(tx, userId)
      })
    }),
  ]
}

/** Throws `EyrieError` if the caller may not remove the authenticator app of another user. */
async function assertCanReset(
  tx: Transaction,
  caller: Principal,
  input: Input<typeof totpRoutes.resetTotp>,
): Promise<void> {
  await assertReferencesExist(tx, totpRoutes.resetTotp, input)
  assertCanManage(caller, await describeUser(tx, input.user_id))
  // Only users whom the caller may change can be locked.
  const lockedUser = await lockUser(tx, input.user_id)
  assertUserChanged(lockedUser ? [lockedUser] : [])
}
